// SPDX-License-Identifier: MIT
/*
 * clock.c - which source of stamps can be trusted here, and why; the clock
 * object; what must still hold when a run is over.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock_state.h"
#include "machine.h"

#define SUSPENDED_NS  10000000
#define STEPPED_NS    10000000
#define SET_NS	      10000 /* slewing moves all clocks alike */
#define STATED_HZ_PPM 10    /* the kernel rounds to kHz; clocks of boards are this good */

TLAT_ASSERT_LAYOUT(struct tlat_clock_facts, 6 * 8 + 2 * 4);

static const char *const source_names[] = {
	[TLAT_CLOCK_AUTO] = "auto",
	[TLAT_CLOCK_TSC] = "tsc",
	[TLAT_CLOCK_CNTVCT] = "cntvct",
	[TLAT_CLOCK_RDTIME] = "rdtime",
	[TLAT_CLOCK_GETTIME] = "clock_gettime",
};

const char *tlat_clock_source_name(int source)
{
	if (source < 0 || (size_t)source >= TLAT_ARRAY_SIZE(source_names))
		return NULL;
	return source_names[source];
}

int tlat_clock_source_from_name(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(source_names); i++)
		if (!strcmp(name, source_names[i]))
			return (int)i;
	return -EINVAL;
}

static void read_clocksource(int root_fd, char *name, size_t size)
{
	if (tlat_root_read(root_fd, TLAT_CLOCKSOURCE_PATH, name, size) < 0)
		name[0] = '\0';
}

/* "kvm-clock" and the like, or words for a file that cannot be read. */
static const char *clocksource_words(const struct tlat_calibration *cal)
{
	return cal->kernel_clocksource[0] ? cal->kernel_clocksource : "not known";
}

static void set_reason(struct tlat_calibration *cal, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_reason(struct tlat_calibration *cal, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tlat_vformat(cal->reason, sizeof(cal->reason), format, args);
	va_end(args);
}

static void note_trapped_read(struct tlat_calibration *cal)
{
	size_t n = strlen(cal->reason);

	if (cal->read_cost_ns > TLAT_TRAPPED_READ_NS)
		tlat_format(cal->reason + n, sizeof(cal->reason) - n,
			    "; a read takes %.0f ns: it traps", cal->read_cost_ns);
}

static void use_counter(struct tlat_clock *clock)
{
	clock->calibration.source = TLAT_ARCH_SOURCE;
	clock->stamper = (struct tlat_stamper){ .kind = TLAT_STAMP_COUNTER };
}

static void use_gettime(struct tlat_clock *clock)
{
	clock->calibration.source = TLAT_CLOCK_GETTIME;
	clock->stamper =
		(struct tlat_stamper){ .kind = TLAT_STAMP_GETTIME, .id = CLOCK_MONOTONIC_RAW };
}

static bool has_counter(void)
{
	return (int)TLAT_ARCH_SOURCE != (int)TLAT_CLOCK_GETTIME;
}

/*
 * Only x86 has counters that differ between CPUs or stop; there the kernel's
 * own choice is the verdict of its warp test and watchdog. A guest's kvm-clock
 * or hyperv_clocksource_tsc_page means that the hypervisor corrects the counter
 * behind our back.
 */
static bool is_vouched(const struct tlat_calibration *cal)
{
	if (!has_counter() || !cal->invariant || tlat_arch_unreadable())
		return false;
	return (int)TLAT_ARCH_SOURCE != (int)TLAT_CLOCK_TSC ||
	       !strcmp(cal->kernel_clocksource, "tsc");
}

static void choose_auto(struct tlat_clock *clock)
{
	struct tlat_calibration *cal = &clock->calibration;
	const char *counter = source_names[TLAT_ARCH_SOURCE];

	if (clock->vouched) {
		use_counter(clock);
		set_reason(cal, "%s: of constant rate; the kernel's clocksource is %s", counter,
			   clocksource_words(cal));
		return;
	}
	use_gettime(clock);
	if (!has_counter())
		set_reason(cal, "clock_gettime: no counter that user space can read here");
	else if (!cal->invariant)
		set_reason(cal, "clock_gettime: the %s is not invariant", counter);
	else if (tlat_arch_unreadable())
		set_reason(cal, "clock_gettime: the %s cannot be read: %s", counter,
			   tlat_arch_unreadable());
	else
		set_reason(cal,
			   "clock_gettime: the kernel's clocksource is %s, so nothing vouches "
			   "for the %s",
			   clocksource_words(cal), counter);
}

static int choose_asked(struct tlat_clock *clock, int source, struct tlat_error *reterr)
{
	struct tlat_calibration *cal = &clock->calibration;
	const char *name = tlat_clock_source_name(source);

	if (!name)
		return tlat_fail(reterr, -EINVAL,
				 "clock source %d: no such source; use auto, %s or "
				 "clock_gettime",
				 source, source_names[TLAT_ARCH_SOURCE]);
	if (source == TLAT_CLOCK_GETTIME) {
		use_gettime(clock);
		set_reason(cal, "clock_gettime: as asked");
		return 0;
	}
	if (source != (int)TLAT_ARCH_SOURCE)
		return tlat_fail(reterr, -EINVAL,
				 "clock source %s: this machine, or this build, has "
				 "no such counter; use auto or clock_gettime",
				 name);
	if (!cal->invariant)
		return tlat_fail(reterr, -EINVAL,
				 "clock source %s: not invariant, it changes its "
				 "rate or stops when a CPU idles; use auto or clock_gettime",
				 name);
	if (tlat_arch_unreadable())
		return tlat_fail(reterr, -EINVAL,
				 "clock source %s: it cannot be read: %s; use auto or "
				 "clock_gettime",
				 name, tlat_arch_unreadable());
	use_counter(clock);
	set_reason(cal,
		   clock->vouched ? "%s: as asked; the kernel's clocksource is %s"
				  : "%s: as asked, though the kernel's clocksource is %s, so "
				    "nothing vouches for it",
		   name, clocksource_words(cal));
	return 0;
}

/* An out-of-tree module shows the kernel's figure for the TSC; firmware states that of CNTVCT. */
static uint64_t read_stated_hz(int root_fd)
{
	int64_t khz;

	if ((int)TLAT_ARCH_SOURCE == (int)TLAT_CLOCK_TSC &&
	    tlat_root_read_int(root_fd, "sys/devices/system/cpu/cpu0/tsc_freq_khz", &khz) == 0 &&
	    khz > 0)
		return (uint64_t)khz * 1000;
	return tlat_arch_nominal_hz();
}

static int open_root(struct tlat_clock *clock, const struct tlat_machine *machine,
		     struct tlat_error *reterr)
{
	clock->root_fd = machine ? fcntl(tlat_machine_root_fd(machine), F_DUPFD_CLOEXEC, 0)
				 : tlat_root_open(NULL);
	if (clock->root_fd >= 0)
		return 0;
	if (!machine)
		errno = -clock->root_fd;
	return tlat_fail(reterr, -errno, "clock: the root directory cannot be opened: %s",
			 strerror(errno));
}

static void read_facts(struct tlat_clock *clock, const struct tlat_machine *machine)
{
	struct tlat_calibration *cal = &clock->calibration;

	read_clocksource(clock->root_fd, cal->kernel_clocksource, sizeof(cal->kernel_clocksource));
	cal->invariant = tlat_arch_invariant();
	cal->hypervisor = machine ? tlat_machine_facts(machine)->hypervisor[0] != '\0'
				  : tlat_arch_hypervisor();
	clock->vouched = is_vouched(cal);
	clock->relation = tlat_clock_measure_relation();
}

static int measure_or_fall_back(struct tlat_clock *clock, int source, struct tlat_error *reterr)
{
	struct tlat_calibration *cal = &clock->calibration;
	const char *name = source_names[cal->source];
	int rc = tlat_clock_measure(clock);

	if (rc == -ENODATA && source == TLAT_CLOCK_AUTO) {
		use_gettime(clock);
		set_reason(cal, "clock_gettime: the %s does not advance with CLOCK_MONOTONIC_RAW",
			   name);
		rc = tlat_clock_measure(clock);
	}
	if (rc == -ENODATA && cal->source == TLAT_CLOCK_GETTIME)
		return tlat_fail(reterr, -EINVAL,
				 "clock source clock_gettime: not usable, CLOCK_MONOTONIC_RAW "
				 "stands still; look for a sandbox or a preloaded library");
	if (rc == -ENODATA)
		return tlat_fail(reterr, -EINVAL,
				 "clock source %s: it does not advance with "
				 "CLOCK_MONOTONIC_RAW; use auto or clock_gettime",
				 name);
	if (rc < 0)
		return tlat_fail(reterr, rc, "clock: no memory for calibration");
	note_trapped_read(cal);
	if (clock->stamper.kind == TLAT_STAMP_COUNTER)
		clock->stated_hz = read_stated_hz(clock->root_fd);
	return 0;
}

/* What this process may not read now it may not read later; stamps then take no look. */
static int check_readable(struct tlat_error *reterr)
{
	static const struct {
		clockid_t id;
		const char *name;
	} used[] = {
		{ CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW" },
		{ CLOCK_MONOTONIC, "CLOCK_MONOTONIC" },
		{ CLOCK_BOOTTIME, "CLOCK_BOOTTIME" },
		{ CLOCK_REALTIME, "CLOCK_REALTIME" },
	};
	struct timespec ts;

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(used); i++)
		if (clock_gettime(used[i].id, &ts) < 0)
			return tlat_fail(reterr, -errno,
					 "clock not usable: clock_gettime(%s): %s; look for a "
					 "system call filter",
					 used[i].name, strerror(errno));
	return 0;
}

int tlat_clock_open(struct tlat_clock **ret_clock, const struct tlat_machine *machine, int source,
		    struct tlat_error *reterr)
{
	struct tlat_clock *clock = calloc(1, sizeof(*clock));
	int rc;

	if (!clock)
		return tlat_fail(reterr, -ENOMEM, "clock: no memory");
	clock->root_fd = -1;
	rc = check_readable(reterr);
	if (!rc)
		rc = open_root(clock, machine, reterr);
	if (!rc) {
		read_facts(clock, machine);
		if (source == TLAT_CLOCK_AUTO)
			choose_auto(clock);
		else
			rc = choose_asked(clock, source, reterr);
	}
	if (!rc)
		rc = measure_or_fall_back(clock, source, reterr);
	if (rc < 0) {
		tlat_clock_close(clock);
		return rc;
	}
	*ret_clock = clock;
	return 0;
}

int tlat_clock_open_script(struct tlat_clock **ret_clock, tlat_script_fn *script, void *data,
			   uint64_t hz)
{
	struct tlat_clock *clock = calloc(1, sizeof(*clock));

	if (!clock)
		return -ENOMEM;
	clock->root_fd = -1;
	clock->stamper =
		(struct tlat_stamper){ .kind = TLAT_STAMP_SCRIPT, .script = script, .data = data };
	clock->calibration = (struct tlat_calibration){
		.source = TLAT_CLOCK_GETTIME,
		.reason = "scripted: a test plays time",
		.method = "nominal",
		.hz = hz,
		.quantum_ticks = 1,
		.quantum_ns = 1e9 / (double)hz,
		.quantum_share = 1,
	};
	*ret_clock = clock;
	return 0;
}

void tlat_clock_close(struct tlat_clock *clock)
{
	if (!clock)
		return;
	if (clock->root_fd >= 0)
		close(clock->root_fd);
	free(clock->pairs);
	free(clock);
}

struct tlat_stamper tlat_clock_stamper(const struct tlat_clock *clock)
{
	return clock->stamper;
}

struct tlat_stamper tlat_clock_stamper_for(const struct tlat_clock *clock, clockid_t id)
{
	if (tlat_clock_is_scripted(clock))
		return clock->stamper;
	return (struct tlat_stamper){ .kind = TLAT_STAMP_GETTIME, .id = id };
}

uint64_t tlat_clock_hz(const struct tlat_clock *clock)
{
	return clock->calibration.hz;
}

/* Seconds and the rest apart: their products with hz fit into 64 bits up to 18 GHz. */
uint64_t tlat_clock_ticks(const struct tlat_clock *clock, int64_t ns)
{
	uint64_t hz = clock->calibration.hz, second_ns = TLAT_NSEC_PER_SEC, rest;

	if (ns <= 0)
		return 0;
	rest = (uint64_t)ns % second_ns * hz;
	return (uint64_t)ns / second_ns * hz + rest / second_ns + (rest % second_ns != 0);
}

const struct tlat_calibration *tlat_clock_calibration(const struct tlat_clock *clock)
{
	return &clock->calibration;
}

int tlat_clock_facts(const struct tlat_clock *clock, struct tlat_clock_facts *facts)
{
	const struct tlat_calibration *cal = &clock->calibration;
	struct tlat_clock_facts all = {
		.size = sizeof(all),
		.reason = cal->reason,
		.hz = cal->hz,
		.hz_error_ppb = cal->hz_error_ppb,
		.quantum_ns = cal->quantum_ns,
		.read_cost_ns = cal->read_cost_ns,
		.source = cal->source,
	};

	return tlat_facts_copy(facts, &all, sizeof(all));
}

static void check_drift(struct tlat_clock *clock, struct tlat_findings *findings)
{
	struct tlat_calibration *cal = &clock->calibration;
	struct tlat_calib_rate rate;
	double bound_ppm;

	if (tlat_clock_measure_since_anchor(clock, &rate) < 0) {
		tlat_findings_add(findings, TLAT_ERROR, "clock-broken",
				  "use clock source clock_gettime",
				  "the %s ran backwards or stood still since it was calibrated",
				  source_names[cal->source]);
		return;
	}
	cal->end_drift_ppm = ((double)rate.hz / (double)cal->hz - 1) * 1e6;
	bound_ppm = (double)(rate.error_ppb + cal->hz_error_ppb) / 1e3;
	if (fabs(cal->end_drift_ppm) > bound_ppm)
		tlat_findings_add(
			findings, TLAT_WARN, "clock-drift", "use clock source clock_gettime",
			"the %s ran at %" PRIu64 " Hz, %+.3f ppm off the %" PRIu64
			" Hz of its calibration; the bounds of both allow %.3f ppm",
			source_names[cal->source], rate.hz, cal->end_drift_ppm, cal->hz, bound_ppm);
}

static void check_stated_hz(const struct tlat_clock *clock, struct tlat_findings *findings)
{
	const struct tlat_calibration *cal = &clock->calibration;
	double off_ppm;

	if (!clock->stated_hz)
		return;
	off_ppm = ((double)cal->hz / (double)clock->stated_hz - 1) * 1e6;
	if (fabs(off_ppm) > STATED_HZ_PPM + (double)cal->hz_error_ppb / 1e3)
		tlat_findings_add(findings, TLAT_WARN, "clock-rate-stated", NULL,
				  "the %s was measured at %" PRIu64
				  " Hz, %+.1f ppm off the %" PRIu64
				  " Hz that the machine states; the measured rate is used",
				  source_names[cal->source], cal->hz, off_ppm, clock->stated_hz);
}

/* A suspend stops the kernel's clocks and not the counter, or resets that: no rate can be had. */
static void check_counter(struct tlat_clock *clock, bool slept, struct tlat_findings *findings)
{
	clock->calibration.end_checked = !slept;
	if (!clock->vouched)
		tlat_findings_add(findings, TLAT_WARN, "clock-not-vouched",
				  "leave the choice of the clock source to the library (auto)",
				  "stamps come from the %s, but the kernel's clocksource is %s",
				  source_names[clock->calibration.source],
				  clocksource_words(&clock->calibration));
	check_stated_hz(clock, findings);
	if (slept)
		tlat_clock_anchor(clock);
	else
		check_drift(clock, findings);
}

static void check_clocksource(struct tlat_clock *clock, struct tlat_findings *findings)
{
	struct tlat_calibration *cal = &clock->calibration;
	char now[sizeof(cal->kernel_clocksource)];

	read_clocksource(clock->root_fd, now, sizeof(now));
	if (strcmp(now, cal->kernel_clocksource))
		tlat_findings_add(findings, TLAT_WARN, "clocksource-changed",
				  "find the cause in the kernel log (dmesg), then measure again",
				  "the kernel's clocksource was %s and is now %s",
				  clocksource_words(cal), now[0] ? now : "not known");
}

/* Each suspend or step is told once: the next check starts from here. True for a suspend. */
static bool check_relation(struct tlat_clock *clock, struct tlat_findings *findings)
{
	struct tlat_clock_relation now = tlat_clock_measure_relation();
	int64_t slept_ns = now.suspended_ns - clock->relation.suspended_ns;
	int64_t stepped_ns = now.wall_ns - clock->relation.wall_ns - slept_ns;

	if (slept_ns > SUSPENDED_NS)
		tlat_findings_add(findings, TLAT_WARN, "suspended",
				  "keep the machine awake (systemd-inhibit), then measure again",
				  "the machine was suspended for %.3f s while the clock was in use",
				  (double)slept_ns / 1e9);
	if (llabs(stepped_ns) > STEPPED_NS)
		tlat_findings_add(
			findings, TLAT_INFO, "clock-stepped", NULL,
			"CLOCK_REALTIME was stepped by %+.3f s while the clock was in use",
			(double)stepped_ns / 1e9);
	clock->relation = now;
	return slept_ns > SUSPENDED_NS;
}

bool tlat_clock_check_set(const struct tlat_stamper *stamper, const struct tlat_clock_lead *before,
			  struct tlat_findings *findings)
{
	struct tlat_clock_lead now = tlat_clock_measure_lead(stamper);
	int64_t set_ns = now.ns - before->ns;

	if (llabs(set_ns) <= SET_NS + now.bracket_ns + before->bracket_ns)
		return false;
	tlat_findings_add(findings, TLAT_WARN, "clock-set",
			  "stop what sets the clock (chronyd, ntpd), or measure on CLOCK_MONOTONIC",
			  "%s was set by %+.6f s during the measurement: the stamps come from it",
			  stamper->id == CLOCK_TAI ? "CLOCK_TAI" : "CLOCK_REALTIME",
			  (double)set_ns / 1e9);
	return true;
}

void tlat_clock_check_end(struct tlat_clock *clock, struct tlat_findings *findings)
{
	bool slept;

	clock->calibration.end_checked = true;
	if (tlat_clock_is_scripted(clock))
		return;
	slept = check_relation(clock, findings);
	if (clock->stamper.kind == TLAT_STAMP_COUNTER)
		check_counter(clock, slept, findings);
	check_clocksource(clock, findings);
}
