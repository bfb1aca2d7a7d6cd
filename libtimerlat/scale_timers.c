// SPDX-License-Identifier: MIT
/*
 * scale_timers.c - N timers made, asked for their overrun, and deleted, by pinned workers behind a
 * barrier before each phase. Raw system calls: the C library keeps state of its own. Timers are
 * never armed; each worker's ids are the same in every round where the kernel lets it choose them.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scale.h"
#include "thread.h"

#define SETTLE_NS    10000000L /* deletion is deferred; between two rounds */
#define RESTORE_IDS  77	       /* PR_TIMER_CREATE_RESTORE_IDS: 0 off, 1 on */
#define LOOK_MS	     50
#define ON_CPU_SHARE 0.9 /* less is somebody else's time */

enum phase { CREATE, GETOVERRUN, DELETE, PHASES };

static const char *const phase_names[PHASES] = { "create", "getoverrun", "delete" };

struct crew;

struct worker {
	struct crew *crew;
	int32_t index, cpu;
	int32_t error;
	struct tlat_side_facts facts;
	int32_t *ids;		  /* of the largest N */
	int64_t made;		  /* of the round under way */
	uint64_t wall_ns, cpu_ns; /* of all phases together */
};

/* Shared by the workers of one pass. */
struct crew {
	pthread_barrier_t barrier;
	atomic_int asked_to_end; /* by the controller */
	atomic_int ending;	 /* agreed on by all, between two rounds */
	atomic_int rounds_done;
	struct tlat_gate gate; /* of threads: a barrier that lacks one never opens */
	int32_t n, policy, priority;
	bool restores_ids;
	int64_t sizes[TLAT_SCALE_SIZES_MAX];
	size_t n_sizes;
	int64_t rounds;
	struct worker *workers;
	struct tlat_helper *helpers;
	pthread_t *threads;
	int64_t *wall_ns; /* [size][round][phase][worker]; 0: not done */
	int64_t *made;	  /* [size][round][worker] */
	size_t bytes;
};

/* == A worker == */

static void create_all(struct worker *w, int64_t n)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };

	for (w->made = 0; w->made < n; w->made++) {
		int id = (int)w->made; /* wanted, where it is asked for */

		if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id))
			return;
		w->ids[w->made] = id;
	}
}

static void ask_all(struct worker *w)
{
	for (int64_t i = 0; i < w->made; i++)
		syscall(SYS_timer_getoverrun, w->ids[i]);
}

static void delete_all(struct worker *w)
{
	for (int64_t i = 0; i < w->made; i++)
		syscall(SYS_timer_delete, w->ids[i]);
}

static void do_phase(struct worker *w, enum phase phase, int64_t n)
{
	if (phase == CREATE)
		create_all(w, n);
	else if (phase == GETOVERRUN)
		ask_all(w);
	else
		delete_all(w);
}

/* Returns its wall time. */
static uint64_t time_phase(struct worker *w, enum phase phase, int64_t n)
{
	uint64_t cpu = tlat_gettime_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t began = tlat_gettime_ns(CLOCK_MONOTONIC), wall;

	do_phase(w, phase, n);
	wall = tlat_gettime_ns(CLOCK_MONOTONIC) - began;
	w->wall_ns += wall;
	w->cpu_ns += tlat_gettime_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return wall;
}

static void do_round(struct worker *w, size_t size, int64_t round)
{
	struct crew *crew = w->crew;
	size_t place = size * (size_t)crew->rounds + (size_t)round, n = (size_t)crew->n;

	for (enum phase phase = CREATE; phase < PHASES; phase++) {
		pthread_barrier_wait(&crew->barrier);
		crew->wall_ns[(place * PHASES + phase) * n + (size_t)w->index] =
			(int64_t)time_phase(w, phase, crew->sizes[size]);
	}
	crew->made[place * n + (size_t)w->index] = w->made;
	nanosleep(&(struct timespec){ .tv_nsec = SETTLE_NS }, NULL);
}

/* All do the same, whenever the request comes. */
static bool agree_to_end(struct worker *w)
{
	struct crew *crew = w->crew;

	if (w->index == 0)
		atomic_store(&crew->ending, atomic_load(&crew->asked_to_end));
	pthread_barrier_wait(&crew->barrier);
	return atomic_load(&crew->ending);
}

static void work(void *arg)
{
	struct worker *w = arg;
	struct crew *crew = w->crew;
	const char *what;

	w->error = tlat_become(w->cpu, crew->policy, crew->priority, &w->facts, &what);
	if (crew->restores_ids)
		prctl(RESTORE_IDS, 1, 0, 0, 0);
	for (size_t size = 0; size < crew->n_sizes; size++)
		for (int64_t round = 0; round < crew->rounds; round++) {
			if (agree_to_end(w))
				return;
			do_round(w, size, round);
			if (w->index == 0)
				atomic_fetch_add(&crew->rounds_done, 1);
		}
}

static void *work_thread(void *arg)
{
	struct worker *w = arg;

	if (tlat_gate_arrive(&w->crew->gate, 0))
		work(w);
	return NULL;
}

/* == A crew == */

static struct crew *crew_new(const struct tlat_scale *s, int32_t n, bool restores_ids)
{
	size_t workers = (size_t)n, rounds = s->n_sizes * (size_t)s->rounds;
	size_t most = (size_t)s->sizes[s->n_sizes - 1], line = TLAT_CACHE_LINE;
	size_t each = sizeof(struct worker) + sizeof(struct tlat_helper) + sizeof(pthread_t) +
		      most * sizeof(int32_t) + rounds * (PHASES + 1) * sizeof(int64_t) + 2 * line;
	size_t bytes = sizeof(struct crew) + workers * each + 8 * line;
	struct crew *crew = tlat_shared_new(bytes);
	pthread_barrierattr_t attr;
	char *at = (char *)crew;

	if (!crew)
		return NULL;
	tlat_shared_carve(&at, sizeof(*crew));
	crew->bytes = bytes;
	crew->n = n;
	crew->policy = s->policy;
	crew->priority = s->priority;
	crew->restores_ids = restores_ids;
	crew->n_sizes = s->n_sizes;
	crew->rounds = s->rounds;
	memcpy(crew->sizes, s->sizes, sizeof(crew->sizes));
	crew->workers = tlat_shared_carve(&at, workers * sizeof(*crew->workers));
	crew->helpers = tlat_shared_carve(&at, workers * sizeof(*crew->helpers));
	crew->threads = tlat_shared_carve(&at, workers * sizeof(*crew->threads));
	crew->wall_ns = tlat_shared_carve(&at, rounds * PHASES * workers * sizeof(*crew->wall_ns));
	crew->made = tlat_shared_carve(&at, rounds * workers * sizeof(*crew->made));
	for (int32_t i = 0; i < n; i++) {
		crew->workers[i] = (struct worker){ .crew = crew, .index = i };
		crew->workers[i].cpu = s->place->cpus[i];
		crew->workers[i].ids = tlat_shared_carve(&at, most * sizeof(int32_t));
		crew->helpers[i] = TLAT_HELPER_NONE;
	}
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&crew->barrier, &attr, (unsigned int)n);
	pthread_barrierattr_destroy(&attr);
	return crew;
}

static void crew_free(struct crew *crew)
{
	if (crew)
		tlat_shared_free(crew, crew->bytes);
}

static void kill_helpers(struct crew *crew)
{
	for (int32_t i = 0; i < crew->n; i++) {
		tlat_helper_kill(&crew->helpers[i]);
		tlat_helper_reap(&crew->helpers[i]);
	}
}

static int reap_worker(struct crew *crew, int32_t i, struct tlat_error *reterr)
{
	int end = tlat_helper_reap(&crew->helpers[i]);

	if (!end)
		return 0;
	return tlat_fail(reterr, -EIO, "the worker on CPU %d died (%s %d)%s", crew->workers[i].cpu,
			 end < 0 ? "signal" : "exit code", abs(end),
			 end == -SIGKILL ? "; look for the kernel's out-of-memory killer and for a "
					   "limit on CPU time (ulimit -t), or use smaller --sizes"
					 : "");
}

/* All of them or none, to the end: a barrier that lacks one never opens. */
static int run_helpers(struct tlat_scale *s, struct crew *crew, struct tlat_error *reterr)
{
	int32_t left = crew->n, i;
	int error = 0;

	for (i = 0; i < crew->n && !error; i++)
		error = tlat_helper_start(&crew->helpers[i], work, &crew->workers[i], reterr);
	while (left && !error) {
		i = tlat_helper_first_ended(crew->helpers, crew->n, LOOK_MS);
		if (tlat_scale_stopping(s))
			atomic_store(&crew->asked_to_end, 1);
		if (i < 0)
			continue;
		error = reap_worker(crew, i, reterr);
		left--;
	}
	kill_helpers(crew);
	return error;
}

static int start_threads(struct crew *crew, int32_t *ret_started)
{
	int error = 0;

	for (*ret_started = 0; *ret_started < crew->n && !error; *ret_started += !error)
		error = tlat_thread_start(&crew->threads[*ret_started], NULL, work_thread,
					  &crew->workers[*ret_started]);
	return error;
}

static int run_threads(struct tlat_scale *s, struct crew *crew, struct tlat_error *reterr)
{
	int32_t started, total = (int32_t)(crew->n_sizes * (size_t)crew->rounds);
	char why[TLAT_REFUSAL_TEXT];
	int error;

	tlat_gate_init(&crew->gate);
	error = start_threads(crew, &started);
	if (error)
		tlat_thread_refusal(error, 0, why, sizeof(why));
	tlat_gate_set(&crew->gate, error ? TLAT_GATE_ABORTED : TLAT_GATE_OPEN);
	while (!error && atomic_load(&crew->rounds_done) < total && !atomic_load(&crew->ending)) {
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
		if (tlat_scale_stopping(s))
			atomic_store(&crew->asked_to_end, 1);
	}
	for (int32_t i = 0; i < started; i++)
		pthread_join(crew->threads[i], NULL);
	tlat_gate_destroy(&crew->gate);
	return error ? tlat_fail(reterr, error, "thread not created: %s", why) : 0;
}

static int run_crew(struct tlat_scale *s, int32_t n, bool restores_ids, struct crew **ret_crew,
		    struct tlat_error *reterr)
{
	struct crew *crew = crew_new(s, n, restores_ids);
	int error;

	if (!crew)
		return tlat_fail(reterr, -ENOMEM, "no memory for %d workers", n);
	error = s->opts.threads ? run_threads(s, crew, reterr) : run_helpers(s, crew, reterr);
	for (int32_t i = 0; i < n && !error; i++)
		if (crew->workers[i].error)
			error = tlat_fail(reterr, crew->workers[i].error,
					  "worker on CPU %d: its attributes: %s",
					  crew->workers[i].cpu, strerror(-crew->workers[i].error));
	s->stopped |= atomic_load(&crew->ending) != 0;
	if (error) {
		crew_free(crew);
		return error;
	}
	*ret_crew = crew;
	return 0;
}

/* == What it says == */

/* Wall times of one phase, of every worker and round, by N. */
static int gather(const struct crew *crew, enum phase phase, struct tlat_scale_series *series)
{
	size_t rounds = (size_t)crew->rounds, n = (size_t)crew->n;
	int error = tlat_scale_series_init(series, crew->n_sizes * rounds * n);

	for (size_t place = 0; place < crew->n_sizes * rounds && !error; place++)
		for (size_t w = 0; w < n; w++)
			tlat_scale_series_add(
				series, (double)crew->sizes[place / rounds],
				(double)crew->wall_ns[(place * PHASES + phase) * n + w]);
	return error;
}

static double mean_at(const struct tlat_scale_series *series, double x)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < series->n; i++)
		if (series->x[i] == x) {
			sum += series->y[i];
			n++;
		}
	return n ? sum / (double)n : (double)NAN;
}

/* Between the fastest and the slowest worker of a round; negative: it did not take place. */
static int64_t spread_of(const int64_t *wall_ns, size_t n)
{
	int64_t low = wall_ns[0], high = wall_ns[0];

	for (size_t w = 1; w < n; w++) {
		low = wall_ns[w] < low ? wall_ns[w] : low;
		high = wall_ns[w] > high ? wall_ns[w] : high;
	}
	return low > 0 ? high - low : -1;
}

/* The mean over the rounds. */
static void put_spread(struct tlat_scale *s, const struct crew *crew, enum phase phase, size_t size)
{
	size_t rounds = (size_t)crew->rounds, n = (size_t)crew->n, done = 0;
	double sum = 0;

	for (size_t r = 0; r < rounds && n > 1; r++) {
		int64_t spread =
			spread_of(crew->wall_ns + ((size * rounds + r) * PHASES + phase) * n, n);

		sum += spread < 0 ? 0 : (double)spread;
		done += spread >= 0;
	}
	if (done)
		tlat_result_put_metric(s->result, sum / (double)done, "ns", TLAT_LOWER,
				       "%s.N%lld.spread_ns", phase_names[phase],
				       (long long)crew->sizes[size]);
}

static void put_phase(struct tlat_scale *s, const struct crew *crew, enum phase phase,
		      const struct tlat_scale_series *series)
{
	for (size_t size = 0; size < crew->n_sizes; size++) {
		double n = (double)crew->sizes[size];

		tlat_scale_put(s->result, series, phase_names[phase], "wall_ns", crew->sizes[size]);
		tlat_result_put_metric(s->result, mean_at(series, n) / n, "ns", TLAT_LOWER,
				       "%s.N%lld.per_timer_ns", phase_names[phase],
				       (long long)crew->sizes[size]);
		put_spread(s, crew, phase, size);
	}
}

/* The share of wall time that the workers were on their CPUs. */
static double cpu_share(const struct crew *crew)
{
	double wall = 0, cpu = 0;

	for (int32_t i = 0; i < crew->n; i++) {
		wall += (double)crew->workers[i].wall_ns;
		cpu += (double)crew->workers[i].cpu_ns;
	}
	return wall > 0 ? cpu / wall : 1;
}

static bool is_shared(const struct crew *crew)
{
	return cpu_share(crew) < ON_CPU_SHARE;
}

static void find_sharing(struct tlat_scale *s, const struct crew *crew)
{
	if (is_shared(crew))
		tlat_findings_add(
			&s->result->findings, TLAT_WARN, "shared-cpu",
			"keep other tasks off these CPUs, or use --policy fifo -p 40",
			"the workers were on their CPUs %.0f %% of the time that is given: "
			"the rest is not what timers cost, and exponents are not judged",
			100 * cpu_share(crew));
}

/* alone: one worker by itself; NULL: there was only one anyway. */
static int report_phase(struct tlat_scale *s, const struct crew *crew, const struct crew *alone,
			const struct tlat_scale_hash *hash, enum phase phase)
{
	double most = (double)crew->sizes[crew->n_sizes - 1], contention = (double)NAN;
	struct tlat_scale_series series, single = { 0 };
	struct tlat_fit fit;
	int error = gather(crew, phase, &series);

	if (!error && alone)
		error = gather(alone, phase, &single);
	if (!error) {
		put_phase(s, crew, phase, &series);
		if (alone)
			contention = mean_at(&series, most) / mean_at(&single, most);
		tlat_result_put_metric(s->result, contention, "1", TLAT_LOWER, "%s.contention",
				       phase_names[phase]);
		if (tlat_scale_exponent(s->result, &series, phase_names[phase], &fit))
			tlat_scale_judge_timers(&s->result->findings, phase_names[phase], &fit,
						hash, (int64_t)most * crew->n, contention,
						is_shared(crew));
	}
	tlat_scale_series_free(&series);
	tlat_scale_series_free(&single);
	return error;
}

/* Others may use up what was free when it was counted. */
static void find_refusals(struct tlat_scale *s, const struct crew *crew)
{
	size_t rounds = (size_t)crew->rounds, n = (size_t)crew->n;

	for (size_t i = 0; i < crew->n_sizes * rounds * n && !s->stopped; i++)
		if (crew->made[i] < crew->sizes[i / n / rounds]) {
			tlat_findings_add(&s->result->findings, TLAT_ERROR, "timers-refused",
					  "raise the limit: ulimit -i",
					  "only %lld of %lld timers could be created in a round: "
					  "others of this user queue signals or hold timers too",
					  (long long)crew->made[i],
					  (long long)crew->sizes[i / n / rounds]);
			return;
		}
}

static int report(struct tlat_scale *s, const struct crew *crew, const struct crew *alone,
		  const struct tlat_scale_hash *hash)
{
	int error = 0;

	s->result->wait = crew->workers[0].facts;
	for (enum phase phase = CREATE; phase < PHASES && !error; phase++)
		error = report_phase(s, crew, alone, hash, phase);
	tlat_result_put_metric(s->result, crew->n, "1", TLAT_NEITHER, "workers");
	tlat_result_put_metric(s->result, crew->restores_ids, "1", TLAT_NEITHER, "chosen_ids");
	if (hash->buckets)
		tlat_result_put_metric(s->result, (double)hash->buckets, "1", TLAT_NEITHER,
				       "buckets");
	tlat_result_put_metric(s->result, cpu_share(crew), "1", TLAT_NEITHER, "cpu_share");
	find_sharing(s, crew);
	find_refusals(s, crew);
	return error;
}

int tlat_scale_timers(struct tlat_scale *s, struct tlat_error *reterr)
{
	int root_fd = tlat_machine_root_fd(s->machine);
	struct crew *crew = NULL, *alone = NULL;
	struct tlat_scale_budget budget;
	struct tlat_scale_hash hash;
	bool restores;
	int error;

	tlat_scale_hash(root_fd, &hash);
	tlat_scale_budget(root_fd, &budget);
	error = tlat_scale_fit_limits(s, &budget, reterr);
	/* the flag is the process's, and threads share it with whatever else makes timers here */
	restores = hash.restores_ids && !s->opts.threads;
	if (!error && s->place->n > 1)
		error = run_crew(s, 1, restores, &alone, reterr);
	if (!error)
		error = run_crew(s, s->place->n, restores, &crew, reterr);
	if (!error)
		error = report(s, crew, alone, &hash);
	crew_free(alone);
	crew_free(crew);
	return error;
}
