// SPDX-License-Identifier: MIT
/*
 * machine_place.c - where a run happens: the default choice of CPUs, what an explicit list may do,
 * the controller's CPU, and what a reader of the figures should know about the choice.
 */
#include <stdio.h>

#include "machine_state.h"

/* CPUs that the default choice may take: what can be reached, less what an affinity mask lacks. */
static struct tlat_cpuset usable(const struct tlat_machine *machine)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);
	struct tlat_cpuset set;

	if (!tlat_machine_restricted(machine))
		return reachable;
	set = tlat_cpuset_and(&reachable, &machine->allowed);
	return tlat_cpuset_empty(&set) ? reachable : set;
}

static bool is_isolated(const struct tlat_machine *machine, int32_t cpu)
{
	return tlat_cpuset_has(&machine->isolated.set, cpu);
}

static bool share_core(const struct tlat_machine *machine, int32_t a, int32_t b)
{
	return a != b && machine->cpu[a].core >= 0 && machine->cpu[a].core == machine->cpu[b].core;
}

static bool any_shares_core(const struct tlat_machine *machine, const struct tlat_cpuset *set,
			    int32_t cpu)
{
	for (int32_t i = tlat_cpuset_next(set, -1); i >= 0; i = tlat_cpuset_next(set, i))
		if (share_core(machine, i, cpu))
			return true;
	return false;
}

/* Slower than the fastest core type of the set; capacities end at 1024. */
static uint32_t slowness(const struct tlat_machine *machine, int32_t fastest, int32_t cpu)
{
	int32_t behind = fastest - machine->cpu[cpu].speed;

	return behind > 0xffff ? 0xffff : (uint32_t)behind;
}

static int32_t fastest_of(const struct tlat_machine *machine, const struct tlat_cpuset *set)
{
	int32_t fastest = 0;

	for (int32_t i = tlat_cpuset_next(set, -1); i >= 0; i = tlat_cpuset_next(set, i))
		if (machine->cpu[i].speed > fastest)
			fastest = machine->cpu[i].speed;
	return fastest;
}

/* Reasons against a pair, the heaviest first; the pair with the smallest sum is taken. */
enum {
	PAIR_SMT = 1 << 24, /* one core: they slow each other */
	PAIR_NOT_ISOLATED = 1 << 23,
	PAIR_NO_SHARED_CACHE = 1 << 22,
	PAIR_TYPES_DIFFER = 1 << 21,
	PAIR_NODES_DIFFER = 1 << 20,
	PAIR_CPU_0 = 1 << 19,		 /* most interrupts and housekeeping start there */
	PAIR_ONE_NOT_ISOLATED = 1 << 17, /* for each: up to twice this */
	PAIR_CORE_0 = 1 << 16,
};

static uint32_t pair_cost(const struct tlat_machine *machine, int32_t fastest, int32_t a, int32_t b)
{
	const struct tlat_cpu *x = &machine->cpu[a], *y = &machine->cpu[b];
	uint32_t bare = (uint32_t)!is_isolated(machine, a) + (uint32_t)!is_isolated(machine, b);
	uint32_t cost = slowness(machine, fastest, a) + slowness(machine, fastest, b);

	cost = cost > PAIR_CORE_0 - 1 ? PAIR_CORE_0 - 1 : cost;
	cost += bare * PAIR_ONE_NOT_ISOLATED + (bare ? PAIR_NOT_ISOLATED : 0);
	cost += x->core == y->core ? PAIR_SMT : 0;
	cost += x->llc != y->llc ? PAIR_NO_SHARED_CACHE : 0;
	cost += x->speed != y->speed ? PAIR_TYPES_DIFFER : 0;
	cost += x->node != y->node ? PAIR_NODES_DIFFER : 0;
	cost += a == 0 || b == 0 ? PAIR_CPU_0 : 0;
	cost += share_core(machine, 0, a) || share_core(machine, 0, b) ? PAIR_CORE_0 : 0;
	return cost;
}

/* What no pair of the set can avoid; the search ends when it is reached. */
static uint32_t least_cost(const struct tlat_machine *machine, const struct tlat_cpuset *set)
{
	struct tlat_cpuset isolated = tlat_cpuset_and(set, &machine->isolated.set);
	size_t n = tlat_cpuset_count(&isolated);

	if (n >= 2)
		return 0;
	return PAIR_NOT_ISOLATED + (uint32_t)(2 - n) * PAIR_ONE_NOT_ISOLATED;
}

/* The first of the best pairs; the waiter gets the isolated CPU where only one is. */
static void choose_pair(const struct tlat_machine *machine, const struct tlat_cpuset *set,
			int32_t *ret_kick, int32_t *ret_wait)
{
	const uint32_t least = least_cost(machine, set);
	const int32_t fastest = fastest_of(machine, set);
	uint32_t best = UINT32_MAX;
	int32_t kick = tlat_cpuset_next(set, -1), wait = kick;

	for (int32_t a = kick; a >= 0 && best > least; a = tlat_cpuset_next(set, a))
		for (int32_t b = tlat_cpuset_next(set, a); b >= 0 && best > least;
		     b = tlat_cpuset_next(set, b)) {
			uint32_t cost = pair_cost(machine, fastest, a, b);

			if (cost >= best)
				continue;
			best = cost;
			kick = a;
			wait = b;
		}
	*ret_kick = is_isolated(machine, kick) && !is_isolated(machine, wait) ? wait : kick;
	*ret_wait = *ret_kick == kick ? wait : kick;
}

static int32_t choose_solo(const struct tlat_machine *machine, const struct tlat_cpuset *set)
{
	const int32_t fastest = fastest_of(machine, set);
	uint32_t best = UINT32_MAX;
	int32_t chosen = -1;

	for (int32_t i = tlat_cpuset_next(set, -1); i >= 0; i = tlat_cpuset_next(set, i)) {
		uint32_t cost = slowness(machine, fastest, i);

		cost += is_isolated(machine, i) ? 0 : PAIR_NOT_ISOLATED;
		cost += i == 0 ? PAIR_CPU_0 : 0;
		cost += share_core(machine, 0, i) ? PAIR_CORE_0 : 0;
		if (cost < best) {
			best = cost;
			chosen = i;
		}
	}
	return chosen;
}

/* Reasons against a CPU for the controller. */
enum {
	HOUSE_WAITS = 1 << 3,
	HOUSE_MEASURES = 1 << 2,
	HOUSE_NOT_HOUSEKEEPING = 1 << 1,
	HOUSE_SHARES_CORE = 1 << 0,
};

/* The controller keeps the process's mask, and shares a measuring CPU when there is no other. */
static int32_t choose_house(const struct tlat_machine *machine, const struct tlat_cpuset *measuring,
			    int32_t wait, bool *ret_shared)
{
	struct tlat_cpuset set = usable(machine);
	unsigned int best = UINT32_MAX;
	int32_t house = -1;

	for (int32_t i = tlat_cpuset_next(&set, -1); i >= 0; i = tlat_cpuset_next(&set, i)) {
		unsigned int cost = i == wait ? HOUSE_WAITS : 0;

		cost += tlat_cpuset_has(measuring, i) ? HOUSE_MEASURES : 0;
		cost += is_isolated(machine, i) || tlat_cpuset_has(&machine->nohz_full.set, i)
				? HOUSE_NOT_HOUSEKEEPING
				: 0;
		cost += any_shares_core(machine, measuring, i) ? HOUSE_SHARES_CORE : 0;
		if (cost < best) {
			best = cost;
			house = i;
		}
	}
	*ret_shared = best >= HOUSE_MEASURES;
	return house;
}

static void find_obeyed(const struct tlat_machine *machine, struct tlat_findings *findings)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);
	struct tlat_cpuset kept = tlat_cpuset_minus(&reachable, &machine->allowed);
	char mask[TLAT_SAY_BYTES], online[TLAT_SAY_BYTES];

	if (!tlat_machine_restricted(machine))
		return;
	tlat_cpuset_say(&machine->online, online, sizeof(online));
	if (machine->cpuset.known && tlat_cpuset_empty(&kept))
		tlat_findings_add(findings, TLAT_INFO, "affinity-obeyed",
				  "start the program in a cgroup that has more CPUs",
				  "the cpuset of cgroup %s leaves this process CPUs %s (online: "
				  "%s)",
				  machine->cpuset_path,
				  tlat_cpuset_say(&reachable, mask, sizeof(mask)), online);
	else
		tlat_findings_add(findings, TLAT_INFO, "affinity-obeyed",
				  "name CPUs with -c to override the mask",
				  "CPUs were chosen within the inherited affinity mask %s "
				  "(online: %s)",
				  tlat_cpuset_say(&machine->allowed, mask, sizeof(mask)), online);
}

static void find_overridden(const struct tlat_machine *machine, const struct tlat_cpuset *measuring,
			    struct tlat_findings *findings)
{
	struct tlat_cpuset beyond = tlat_cpuset_minus(measuring, &machine->allowed);
	char cpus[TLAT_SAY_BYTES], mask[TLAT_SAY_BYTES];

	if (!tlat_machine_restricted(machine) || tlat_cpuset_empty(&beyond))
		return;
	tlat_findings_add(findings, TLAT_INFO, "affinity-overridden",
			  "leave -c out to stay within the mask",
			  "the list names CPUs outside the inherited affinity mask %s and "
			  "overrides it: %s",
			  tlat_cpuset_say(&machine->allowed, mask, sizeof(mask)),
			  tlat_cpuset_say(&beyond, cpus, sizeof(cpus)));
}

/* Isolated CPUs exist, and these are not among them. */
static void find_bare(const struct tlat_machine *machine, const struct tlat_cpuset *measuring,
		      struct tlat_findings *findings)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);
	struct tlat_cpuset mine = tlat_cpuset_and(&machine->isolated.set, &reachable);
	struct tlat_cpuset bare = tlat_cpuset_minus(measuring, &machine->isolated.set);
	char cpus[TLAT_SAY_BYTES], isolated[TLAT_SAY_BYTES];

	if (tlat_cpuset_empty(&bare) || tlat_cpuset_empty(&machine->isolated.set))
		return;
	tlat_findings_add(findings, TLAT_INFO, "not-isolated",
			  tlat_cpuset_empty(&mine)
				  ? "start the program in the cgroup that has the isolated CPUs"
				  : "name isolated CPUs: -c isolated",
			  "CPUs without isolation: %s (isolated: %s): other tasks and kernel work "
			  "can run there",
			  tlat_cpuset_say(&bare, cpus, sizeof(cpus)),
			  tlat_cpuset_say(&machine->isolated.set, isolated, sizeof(isolated)));
}

/* What measured CPUs share their cores with. */
struct siblings {
	int32_t a, b;		     /* the first two measured CPUs of one core */
	size_t pairs;		     /* how many such pairs there are */
	struct tlat_cpuset isolated; /* measured and isolated, with a sibling that is not */
	struct tlat_cpuset busy;     /* those siblings */
};

static void collect(const struct tlat_machine *machine, const struct tlat_cpuset *measuring,
		    int32_t cpu, struct siblings *siblings)
{
	const struct tlat_cpuset *online = &machine->online;

	for (int32_t i = tlat_cpuset_next(online, -1); i >= 0; i = tlat_cpuset_next(online, i)) {
		if (!share_core(machine, cpu, i))
			continue;
		if (tlat_cpuset_has(measuring, i) && cpu < i && siblings->pairs++ == 0) {
			siblings->a = cpu;
			siblings->b = i;
		}
		if (tlat_cpuset_has(measuring, i) || !is_isolated(machine, cpu) ||
		    is_isolated(machine, i))
			continue;
		tlat_cpuset_add(&siblings->isolated, cpu);
		tlat_cpuset_add(&siblings->busy, i);
	}
}

static void find_measured(const struct tlat_machine *machine, const struct siblings *siblings,
			  struct tlat_findings *findings)
{
	struct tlat_cpuset all = tlat_machine_reachable(machine);
	char remedy[64], more[48] = "";
	int32_t kick, wait;

	choose_pair(machine, &all, &kick, &wait);
	snprintf(remedy, sizeof(remedy), "name CPUs of different cores: -c %d,%d", kick, wait);
	if (siblings->pairs > 1)
		snprintf(more, sizeof(more), " (and %zu more pairs)", siblings->pairs - 1);
	tlat_findings_add(findings, TLAT_WARN, "smt-sibling",
			  kick != wait && !share_core(machine, kick, wait) ? remedy : NULL,
			  "CPU %d and CPU %d are SMT siblings%s: measuring threads on one core "
			  "slow each other",
			  siblings->a, siblings->b, more);
}

/* A sibling that was not isolated with the measured CPU can be busy at any time. */
static void find_busy(const struct siblings *siblings, struct tlat_findings *findings)
{
	char isolated[TLAT_SAY_BYTES], busy[TLAT_SAY_BYTES], remedy[96];

	snprintf(remedy, sizeof(remedy),
		 "isolate both, or: echo 0 > /sys/devices/system/cpu/cpu%d/online",
		 tlat_cpuset_next(&siblings->busy, -1));
	tlat_findings_add(findings, TLAT_WARN, "smt-sibling", remedy,
			  "isolated CPUs have SMT siblings that are not isolated, and what runs "
			  "there slows them: %s beside %s",
			  tlat_cpuset_say(&siblings->isolated, isolated, sizeof(isolated)),
			  tlat_cpuset_say(&siblings->busy, busy, sizeof(busy)));
}

/* Cores that the measured CPUs are on. */
static size_t cores_of(const struct tlat_machine *machine, const struct tlat_cpuset *set)
{
	struct tlat_cpuset cores = { { 0 } };

	for (int32_t i = tlat_cpuset_next(set, -1); i >= 0; i = tlat_cpuset_next(set, i))
		tlat_cpuset_add(&cores, machine->cpu[i].core);
	return tlat_cpuset_count(&cores);
}

static void find_house(const struct tlat_machine *machine, const struct tlat_cpuset *measuring,
		       int32_t house, struct tlat_findings *findings)
{
	tlat_findings_add(findings, TLAT_WARN, "smt-sibling",
			  "measure on fewer cores, so that one is left for the controller",
			  "the controller's CPU %d shares a core with a measured CPU: to keep them "
			  "apart %zu cores are needed",
			  house, cores_of(machine, measuring) + 1);
}

static void find_siblings(const struct tlat_machine *machine, const struct tlat_cpuset *measuring,
			  int32_t house, struct tlat_findings *findings)
{
	struct siblings siblings = { .pairs = 0 };

	for (int32_t i = tlat_cpuset_next(measuring, -1); i >= 0;
	     i = tlat_cpuset_next(measuring, i))
		collect(machine, measuring, i, &siblings);
	if (siblings.pairs)
		find_measured(machine, &siblings, findings);
	if (!tlat_cpuset_empty(&siblings.busy))
		find_busy(&siblings, findings);
	if (!tlat_cpuset_has(measuring, house) && any_shares_core(machine, measuring, house))
		find_house(machine, measuring, house, findings);
}

static const char *more_cpus(const struct tlat_machine *machine)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);

	if (tlat_cpuset_count(&reachable) > 1)
		return "name two CPUs to override the mask: -c KICK,WAIT";
	if (tlat_cpuset_count(&machine->online) > 1)
		return "start the program in a cgroup that has more CPUs";
	return NULL;
}

static void find_same_cpu(const struct tlat_machine *machine, int32_t cpu,
			  struct tlat_findings *findings)
{
	tlat_findings_add(findings, TLAT_INFO, "same-cpu", more_cpus(machine),
			  "only CPU %d can be used: waker and waiter share it, and each wake "
			  "contains a switch between them",
			  cpu);
}

/* Findings and the controller's CPU, once it is known who measures where. */
static void conclude(const struct tlat_machine *machine, const char *list,
		     struct tlat_placement *placement, struct tlat_findings *findings)
{
	/* Where a waiter spins or sleeps matters to a waker; solo probes are all alike. */
	int32_t wait = placement->kick >= 0 ? placement->wait : -1;
	struct tlat_cpuset measuring = { { 0 } };

	for (int32_t i = 0; i < placement->n; i++)
		tlat_cpuset_add(&measuring, placement->cpus[i]);
	placement->house = choose_house(machine, &measuring, wait, &placement->house_shared);
	tlat_machine_find_isolation(machine, findings);
	find_bare(machine, &measuring, findings);
	if (list)
		find_overridden(machine, &measuring, findings);
	else
		find_obeyed(machine, findings);
	find_siblings(machine, &measuring, placement->house, findings);
}

/* An affinity mask can be left behind, a cpuset cannot: the kernel refuses. */
static int check_cpuset(const struct tlat_machine *machine, const struct tlat_placement *placement,
			struct tlat_error *reterr)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);
	char mine[TLAT_SAY_BYTES];

	for (int32_t i = 0; i < placement->n; i++) {
		int32_t cpu = placement->cpus[i];

		if (!tlat_cpuset_has(&reachable, cpu))
			return tlat_fail(reterr, -EINVAL,
					 "CPU list: CPU %d is outside this process's cpuset "
					 "(cgroup %s: %s); choose from these, or start it in a "
					 "cgroup that has CPU %d",
					 cpu, machine->cpuset_path,
					 tlat_cpuset_say(&reachable, mine, sizeof(mine)), cpu);
	}
	return 0;
}

/* No list can name more CPUs than there is room for. */
static int read_list(const struct tlat_machine *machine, const char *list,
		     struct tlat_placement *placement, struct tlat_error *reterr)
{
	placement->n = tlat_machine_cpus(machine, list, placement->cpus,
					 TLAT_ARRAY_SIZE(placement->cpus), reterr);
	return placement->n < 0 ? placement->n : 0;
}

static int pair_from_list(const struct tlat_machine *machine, const char *list,
			  struct tlat_placement *placement, struct tlat_error *reterr)
{
	int r = read_list(machine, list, placement, reterr);

	if (r < 0)
		return r;
	if (placement->n > 2)
		return tlat_fail(reterr, -EINVAL,
				 "CPU list: \"%.40s\" names %d CPUs, but a pair takes two "
				 "(KICK,WAIT) or one for both; write for example %d,%d",
				 list, placement->n, placement->cpus[0], placement->cpus[1]);
	return check_cpuset(machine, placement, reterr);
}

static void pair_by_choice(const struct tlat_machine *machine, struct tlat_placement *placement)
{
	struct tlat_cpuset set = usable(machine);

	choose_pair(machine, &set, &placement->cpus[0], &placement->cpus[1]);
	placement->n = placement->cpus[0] == placement->cpus[1] ? 1 : 2;
}

int tlat_machine_place_pair(const struct tlat_machine *machine, const char *list,
			    struct tlat_placement *ret_placement, struct tlat_findings *findings,
			    struct tlat_error *reterr)
{
	struct tlat_placement *placement = ret_placement;
	int r = 0;

	if (list)
		r = pair_from_list(machine, list, placement, reterr);
	else
		pair_by_choice(machine, placement);
	if (r < 0)
		return r;
	placement->kick = placement->cpus[0];
	placement->wait = placement->cpus[placement->n - 1];
	conclude(machine, list, placement, findings);
	if (!list && placement->n == 1)
		find_same_cpu(machine, placement->kick, findings);
	return 0;
}

int tlat_machine_place_solo(const struct tlat_machine *machine, const char *list,
			    struct tlat_placement *ret_placement, struct tlat_findings *findings,
			    struct tlat_error *reterr)
{
	struct tlat_placement *placement = ret_placement;
	struct tlat_cpuset set = usable(machine);
	int r = 0;

	placement->n = 1;
	if (list)
		r = read_list(machine, list, placement, reterr);
	else
		placement->cpus[0] = choose_solo(machine, &set);
	if (list && r == 0)
		r = check_cpuset(machine, placement, reterr);
	if (r < 0)
		return r;
	placement->kick = -1;
	placement->wait = placement->cpus[0];
	conclude(machine, list, placement, findings);
	return 0;
}

int tlat_machine_choose(const struct tlat_machine *machine, bool pair, int32_t ret_cpus[2],
			struct tlat_error *reterr)
{
	struct tlat_cpuset set = usable(machine);

	if (tlat_cpuset_empty(&set))
		return tlat_fail(reterr, -EINVAL,
				 "no CPU can be used: the affinity mask and the "
				 "cpuset leave none that is online; check taskset and the cgroup");
	if (!pair) {
		ret_cpus[0] = choose_solo(machine, &set);
		return 1;
	}
	choose_pair(machine, &set, &ret_cpus[0], &ret_cpus[1]);
	return 2;
}
