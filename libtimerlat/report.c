// SPDX-License-Identifier: MIT
/*
 * report.c - the report as an object: where it comes from, what it owns, and how results get in
 * and are asked for. JSON is elsewhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "report.h"
#include "slew.h"

TLAT_ASSERT_LAYOUT(struct tlat_fact, 2 * 8);
TLAT_ASSERT_LAYOUT(struct tlat_summary, 41 * 8 + 10 * 4);
TLAT_ASSERT_LAYOUT(struct tlat_idle_share, 6 * 8 + 2 * 4);

/* RFC 4122 version 4. Without randomness the id stays all zero but for its version. */
static void fill_id(char id[37])
{
	static const char hex[] = "0123456789abcdef";
	unsigned char bytes[16] = { 0 };
	char *out = id;

	while (getrandom(bytes, sizeof(bytes), 0) < 0 && errno == EINTR)
		;
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		*out++ = hex[bytes[i] >> 4];
		*out++ = hex[bytes[i] & 15];
	}
	*out = '\0';
}

static char *format_cpus(const struct tlat_cpuset *set)
{
	size_t size = tlat_cpuset_format(set, NULL, 0) + 1;
	char *text = malloc(size);

	if (text)
		tlat_cpuset_format(set, text, size);
	return text;
}

static char *format_known(const struct tlat_known_cpus *cpus)
{
	return cpus->known ? format_cpus(&cpus->set) : NULL;
}

static void take_machine(struct tlat_report_machine *to, const struct tlat_machine *from)
{
	to->known = true;
	to->facts = *tlat_machine_facts(from);
	to->online = format_cpus(tlat_machine_online(from));
	to->isolated = format_known(tlat_machine_isolated(from));
	to->isolated_requested = format_cpus(tlat_machine_isolated_requested(from));
	to->nohz_full = format_known(tlat_machine_nohz_full(from));
	to->allowed = format_cpus(tlat_machine_allowed(from));
	to->cpuset = format_known(tlat_machine_cpuset(from));
}

static void machine_free(struct tlat_report_machine *machine)
{
	free(machine->online);
	free(machine->isolated);
	free(machine->isolated_requested);
	free(machine->nohz_full);
	free(machine->allowed);
	free(machine->cpuset);
}

struct tlat_report *tlat_report_alloc(void)
{
	struct tlat_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->end_read = TLAT_END_COUNT;
	report->verdict = TLAT_NO_VERDICT;
	return report;
}

int tlat_report_new(struct tlat_report **ret_report, const struct tlat_machine *machine,
		    const struct tlat_clock *clock, uint64_t seed)
{
	struct tlat_report *report = tlat_report_alloc();

	if (!report)
		return -ENOMEM;
	if (clock) {
		report->clock = malloc(sizeof(*report->clock));
		if (!report->clock) {
			free(report);
			return -ENOMEM;
		}
		*report->clock = *tlat_clock_calibration(clock);
	}
	if (machine) {
		take_machine(&report->machine, machine);
		snprintf(report->boot_id, sizeof(report->boot_id), "%.36s",
			 report->machine.facts.boot_id);
	}
	fill_id(report->id);
	report->seed = seed;
	report->slew_ppb = tlat_slew_ppb();
	report->start_ns = (int64_t)tlat_gettime_ns(CLOCK_REALTIME);
	*ret_report = report;
	return 0;
}

void tlat_report_started(struct tlat_report *report, int64_t realtime_ns)
{
	report->start_ns = realtime_ns;
}

void tlat_report_slewed(struct tlat_report *report, int64_t slew_ppb)
{
	if (slew_ppb > report->slew_ppb)
		report->slew_ppb = slew_ppb;
}

int tlat_report_hand_over(struct tlat_report *report, int error, struct tlat_findings *findings,
			  struct tlat_report **ret_report)
{
	if (error) {
		tlat_report_free(report);
		return error;
	}
	tlat_findings_move(tlat_report_findings(report), findings);
	*ret_report = report;
	return 0;
}

static void argv_free(char **argv)
{
	for (char **arg = argv; arg && *arg; arg++)
		free(*arg);
	free(argv);
}

static void forget_facts(struct tlat_report *report)
{
	for (size_t i = 0; i < report->n_facts; i++) {
		free((char *)report->facts[i].name);
		free((char *)report->facts[i].value);
	}
	free(report->facts);
	report->facts = NULL;
	report->n_facts = 0;
}

void tlat_report_free(struct tlat_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->n_results; i++)
		tlat_result_free(report->results[i]);
	free(report->results);
	tlat_findings_free(&report->findings);
	tlat_document_free(report->document);
	machine_free(&report->machine);
	tlat_position_free(&report->position);
	argv_free(report->argv);
	forget_facts(report);
	free(report->repeat);
	free(report->clock);
	free(report);
}

static bool calibration_equal(const struct tlat_calibration *a, const struct tlat_calibration *b)
{
	return a == b ||
	       (a && b && a->source == b->source && a->hz == b->hz &&
		a->hz_error_ppb == b->hz_error_ppb && a->quantum_ns == b->quantum_ns &&
		a->read_cost_ns == b->read_cost_ns && a->read_min_ns == b->read_min_ns &&
		a->read_p99_ns == b->read_p99_ns && a->gettime_cost_ns == b->gettime_cost_ns);
}

bool tlat_report_has_clock_of(const struct tlat_report *report, const struct tlat_result *result)
{
	return calibration_equal(report->clock, result->clock) &&
	       (!result->clock || report->slew_ppb == result->slew_ppb);
}

int tlat_report_calibrate(const struct tlat_report *report, struct tlat_result *result)
{
	if (!report->clock || result->clock)
		return 0;
	result->clock = malloc(sizeof(*result->clock));
	if (!result->clock)
		return -ENOMEM;
	*result->clock = *report->clock;
	result->slew_ppb = report->slew_ppb;
	return 0;
}

static int reserve(struct tlat_report *report, size_t more)
{
	struct tlat_result **grown;

	grown = realloc(report->results,
			(report->n_results + more + 1) * sizeof(struct tlat_result *));
	if (!grown)
		return -ENOMEM;
	report->results = grown;
	return 0;
}

void tlat_report_own(struct tlat_report *report, struct tlat_result *result)
{
	result->of_run = &report->findings;
	report->results[report->n_results++] = result;
}

int tlat_report_add(struct tlat_report *report, struct tlat_result *result)
{
	int ret = reserve(report, 1);

	if (!ret)
		ret = tlat_report_calibrate(report, result);
	if (ret < 0) {
		tlat_result_free(result);
		return ret;
	}
	if (result->duration_ns > report->duration_ns)
		report->duration_ns = result->duration_ns;
	tlat_report_own(report, result);
	return 0;
}

struct tlat_findings *tlat_report_findings(struct tlat_report *report)
{
	return &report->findings;
}

/* What into does not know about its surroundings it learns from from. */
static void adopt(struct tlat_report *into, struct tlat_report *from)
{
	if (!into->clock && !into->document) {
		into->clock = from->clock;
		into->slew_ppb = from->slew_ppb;
		from->clock = NULL;
	}
	if (!into->machine.known && !into->document) {
		into->machine = from->machine;
		from->machine = (struct tlat_report_machine){ 0 };
	}
}

int tlat_report_append(struct tlat_report *into, struct tlat_report *from)
{
	int ret = reserve(into, from->n_results);

	if (ret < 0) {
		tlat_report_free(from);
		return ret;
	}
	adopt(into, from);
	forget_facts(into);
	for (size_t i = 0; i < from->n_results; i++)
		tlat_report_own(into, from->results[i]);
	from->n_results = 0;
	tlat_findings_move(&into->findings, &from->findings);
	into->duration_ns += from->duration_ns;
	into->appended = true;
	tlat_report_free(from);
	return 0;
}

static char **copy_argv(int argc, char *const argv[])
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	for (int i = 0; copy && i < argc; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i]) {
			argv_free(copy);
			return NULL;
		}
	}
	return copy;
}

int tlat_report_set_origin(struct tlat_report *report, int argc, char *const argv[],
			   const char *repeat)
{
	char **copy;
	char *command = NULL;

	if (argc < 0)
		return -EINVAL;
	if (repeat && !(command = strdup(repeat)))
		return -ENOMEM;
	copy = copy_argv(argc, argv);
	if (!copy) {
		free(command);
		return -ENOMEM;
	}
	argv_free(report->argv);
	free(report->repeat);
	report->argv = copy;
	report->repeat = command;
	return 0;
}

int tlat_report_parse(struct tlat_report **ret_report, const char *text, size_t size,
		      const char *name, struct tlat_error *reterr)
{
	bool more = size > TLAT_REPORT_BYTES_MAX;

	return tlat_report_read_text(ret_report, text, more ? TLAT_REPORT_BYTES_MAX : size, more,
				     name, reterr);
}

const char *tlat_report_boot(const struct tlat_report *report)
{
	return report->boot_id;
}

const struct tlat_result *tlat_report_result(const struct tlat_report *report, size_t index)
{
	return index < report->n_results ? report->results[index] : NULL;
}

static int finding_at(const struct tlat_findings *findings, size_t index,
		      struct tlat_finding *ret_finding)
{
	if (index >= findings->n)
		return -ENOENT;
	*ret_finding = findings->v[index];
	return 0;
}

int tlat_report_finding(const struct tlat_report *report, size_t index,
			struct tlat_finding *ret_finding)
{
	return finding_at(&report->findings, index, ret_finding);
}

int tlat_result_finding(const struct tlat_result *result, size_t index,
			struct tlat_finding *ret_finding)
{
	return finding_at(&result->findings, index, ret_finding);
}

static bool any_ended(const struct tlat_report *report, int32_t end)
{
	for (size_t i = 0; i < report->n_results; i++)
		if (report->results[i]->end == end)
			return true;
	return false;
}

/* How the last result that could be measured ended. */
static int32_t last_end(const struct tlat_report *report)
{
	for (size_t i = report->n_results; i-- > 0;)
		if (report->results[i]->supported)
			return report->results[i]->end;
	return report->end_read;
}

const char *tlat_report_end(const struct tlat_report *report)
{
	int32_t end = report->end_read;

	if (any_ended(report, TLAT_END_RUNNING))
		end = TLAT_END_RUNNING;
	else if (any_ended(report, TLAT_END_SIGNAL))
		end = TLAT_END_SIGNAL;
	else if (any_ended(report, TLAT_END_BREAK))
		end = TLAT_END_BREAK;
	else if (any_ended(report, TLAT_END_ERROR))
		end = TLAT_END_ERROR;
	else if (!report->document || report->appended)
		end = last_end(report);
	return tlat_end_names[end];
}

const char *tlat_result_probe(const struct tlat_result *result)
{
	return result->probe;
}

const char *tlat_result_repeat(const struct tlat_result *result)
{
	return result->repeat;
}

const struct tlat_hist *tlat_result_hist(const struct tlat_result *result)
{
	return result->latency;
}

size_t tlat_result_values(const struct tlat_result *result, const int64_t **ret_values)
{
	*ret_values = result->n_raw ? result->raw : NULL;
	return result->n_raw;
}

/* Made once; to the caller a report that is asked for facts has not changed. */
int tlat_report_fact(const struct tlat_report *report, size_t index, struct tlat_fact *ret_fact)
{
	struct tlat_report *cache = (struct tlat_report *)report;
	int ret = report->facts ? 0 : tlat_report_facts_make(cache);

	if (ret < 0) {
		forget_facts(cache);
		return ret;
	}
	if (index >= report->n_facts)
		return -ENOENT;
	*ret_fact = report->facts[index];
	return 0;
}

const char *tlat_report_repeat(const struct tlat_report *report)
{
	return report->repeat;
}

int tlat_report_add_finding(struct tlat_report *report, const struct tlat_finding *finding)
{
	if (!finding->id || !finding->text || !tlat_severity_name(finding->severity))
		return -EINVAL;
	return tlat_findings_add(&report->findings, finding->severity, finding->id, finding->remedy,
				 "%s", finding->text);
}

int tlat_report_set_verdict(struct tlat_report *report, size_t index, int verdict)
{
	if (!tlat_verdict_name(verdict))
		return -EINVAL;
	if (index == TLAT_REPORT_WHOLE) {
		report->verdict = verdict;
		return 0;
	}
	if (index >= report->n_results)
		return -ENOENT;
	report->results[index]->verdict = verdict;
	return 0;
}
