// SPDX-License-Identifier: MIT
/* storm_plan.c - from options to what every worker arms; what the presets are. */
#include <string.h>

#include "rt.h"
#include "storm.h"

#define DEFAULT_DURATION_NS 2000000000LL
#define DEFAULT_INTERVAL_NS 100000LL
#define MIN_INTERVAL_NS	    100LL
#define MAX_NS		    1000000000000000000LL
#define LINGER_FROM_NS	    10000LL
#define NAP_NS		    10000000LL

#define CLOCK_BIT_URING (1u << (TLAT_STORM_CLOCKS - 1))

TLAT_ASSERT_LAYOUT(struct tlat_storm_opts, 6 * 8 + 4 * 8 + 4 * 4);

/* As stress-ng arms them (its --timer and --timermix), but aimed at the worker's thread. */
static const struct {
	const char *name, *clocks;
	int64_t interval_ns, itimer_interval_ns, nap_ns;
	uint32_t body;
	bool yields;
} presets[] = {
	[TLAT_STORM_CUSTOM] = { "custom", "monotonic", DEFAULT_INTERVAL_NS, 0, NAP_NS, 0, false },
	[TLAT_STORM_TIMER] = { "timer", "realtime", 1000, 0, NAP_NS,
			       TLAT_STORM_SIGPENDING | TLAT_STORM_GETOVERRUN, false },
	[TLAT_STORM_TIMERMIX] = { "timermix", "posix,itimers", 100, 10000, 100000,
				  TLAT_STORM_SIGPENDING | TLAT_STORM_BACK_OFF, true },
};

const char *tlat_storm_preset_name(int preset)
{
	return preset >= 0 && preset < (int)TLAT_ARRAY_SIZE(presets) ? presets[preset].name : NULL;
}

int tlat_storm_preset_from_name(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(presets); i++)
		if (!strcmp(presets[i].name, name))
			return (int)i;
	return -EINVAL;
}

static const char *const handlers[] = {
	[TLAT_STORM_PLAIN] = "plain",
	[TLAT_STORM_REARMING] = "rearm",
};

const char *tlat_storm_handler_name(int handler)
{
	return handler >= 0 && handler < (int)TLAT_ARRAY_SIZE(handlers) ? handlers[handler] : NULL;
}

int tlat_storm_handler_from_name(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(handlers); i++)
		if (!strcmp(handlers[i], name))
			return (int)i;
	return -EINVAL;
}

static int check_number(const char *what, int64_t value, int64_t least, int64_t most,
			struct tlat_error *reterr)
{
	if (!value || (value >= least && value <= most))
		return 0;
	return tlat_fail(reterr, -EINVAL, "%s of %lld is outside %lld..%lld; choose one of these",
			 what, (long long)value, (long long)least, (long long)most);
}

int tlat_storm_opts_check(const struct tlat_storm_opts *o, struct tlat_error *reterr)
{
	const struct tlat_rt_opts rt = TLAT_RT_OPTS(.policy = o->policy, .priority = o->priority);
	int error;

	if (!tlat_storm_preset_name(o->preset) || !tlat_storm_handler_name(o->handler))
		return tlat_fail(reterr, -EINVAL,
				 "preset %d or handler %d is not known to libtimerlat %s",
				 o->preset, o->handler, TLAT_VERSION);
	if (o->handler && o->preset == TLAT_STORM_TIMERMIX)
		return tlat_fail(reterr, -EINVAL,
				 "a handler that re-arms would undo timermix's back-off; use "
				 "preset timer or none");
	if (o->policy == TLAT_SCHED_DEADLINE)
		return tlat_fail(reterr, -EINVAL,
				 "policy deadline is not one of a storm; use fifo, rr, other or "
				 "batch");
	if ((error = tlat_rt_opts_check(&rt, reterr)) < 0 ||
	    (error = check_number("duration_ns", o->duration_ns, 1, MAX_NS, reterr)) < 0 ||
	    (error = check_number("interval_ns", o->interval_ns, MIN_INTERVAL_NS, MAX_NS, reterr)) <
		    0 ||
	    (error = check_number("itimer_interval_ns", o->itimer_interval_ns, 1000, MAX_NS,
				  reterr)) < 0)
		return error;
	return check_number("number of timers", o->timers, 1, TLAT_STORM_TIMERS_MAX, reterr);
}

static int plan_clocks(struct tlat_storm_session *s, const char *list, struct tlat_error *reterr)
{
	int error = tlat_storm_clocks_parse(list, &s->plan.clocks, reterr), why_not;
	struct tlat_error why;

	if (error || !(s->plan.clocks & CLOCK_BIT_URING))
		return error;
	why_not = tlat_storm_uring_supported(&why);
	if (!why_not)
		return 0;
	if (s->plan.clocks == CLOCK_BIT_URING)
		return tlat_fail(reterr, why_not, "%s", why.text);
	s->plan.clocks &= ~CLOCK_BIT_URING;
	tlat_findings_add(&s->of_result, TLAT_INFO, "clock-missing", NULL, "uring is left out: %s",
			  why.text);
	return 0;
}

static int64_t or_default(int64_t asked, int64_t fallback)
{
	return asked ? asked : fallback;
}

int tlat_storm_plan(struct tlat_storm_session *s, struct tlat_error *reterr)
{
	const struct tlat_storm_opts *o = &s->opts;
	struct tlat_storm_plan *p = &s->plan;
	int error = plan_clocks(s, o->clocks ? o->clocks : presets[o->preset].clocks, reterr);

	p->duration_ns = or_default(o->duration_ns, DEFAULT_DURATION_NS);
	p->interval_ns = or_default(o->interval_ns, presets[o->preset].interval_ns);
	p->itimer_interval_ns =
		or_default(o->itimer_interval_ns,
			   or_default(presets[o->preset].itimer_interval_ns, p->interval_ns));
	p->timers = (int32_t)or_default(o->timers, 1);
	p->nap_ns = presets[o->preset].nap_ns;
	p->yields = presets[o->preset].yields;
	p->body = presets[o->preset].body;
	p->policy = o->policy;
	p->priority = o->priority;
	if (o->handler == TLAT_STORM_REARMING)
		p->body |= TLAT_STORM_REARM;
	if (o->handler == TLAT_STORM_REARMING && p->interval_ns >= LINGER_FROM_NS)
		p->body |= TLAT_STORM_LINGER;
	if (!error && tlat_storm_count_clocks(p->clocks) * p->timers > TLAT_STORM_TIMERS_MAX)
		error = tlat_fail(
			reterr, -EINVAL,
			"%d timers of %d clocks are more than %d of one worker; use fewer",
			p->timers, tlat_storm_count_clocks(p->clocks), TLAT_STORM_TIMERS_MAX);
	return error;
}
