// SPDX-License-Identifier: MIT
/*
 * scale_verdict.c - an exponent in words. Chains, caches and locks are kept apart: a chain can only
 * grow where a bucket holds several timers, caches fill with any table, and a lock shows in what
 * workers cost each other, not in N.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "scale.h"

#define CONSTANT    1.2	  /* an exponent up to this is no growth per timer */
#define CHAINED	    1.3	  /* from here on it is what a list shows that is walked */
#define LONG_CHAIN  4	  /* timers in a bucket */
#define OLD_BUCKETS 512	  /* before Linux 6.15 */
#define CONTENDED   1.5	  /* times the cost of a worker alone */
#define RESTORE_GET 77, 2 /* PR_TIMER_CREATE_RESTORE_IDS, GET */

/* Linux 6.15 made the table grow with the CPUs, locks per bucket, and ids that can be asked for. */
void tlat_scale_hash(int root_fd, struct tlat_scale_hash *hash)
{
	struct tlat_cpuset possible;
	char text[256];
	int64_t wanted;

	*hash = (struct tlat_scale_hash){ .buckets = OLD_BUCKETS };
	if (prctl(RESTORE_GET, 0, 0, 0) < 0)
		return;
	hash->per_bucket_locks = hash->restores_ids = true;
	hash->buckets = 0;
	if (tlat_root_read(root_fd, "sys/devices/system/cpu/possible", text, sizeof(text)) < 0 ||
	    tlat_cpuset_parse(&possible, text) < 0)
		return;
	wanted = OLD_BUCKETS * (int64_t)tlat_cpuset_count(&possible);
	for (hash->buckets = 1; hash->buckets < wanted; hash->buckets *= 2)
		;
}

static const char *growth(const struct tlat_fit *fit, double per_bucket)
{
	if (fit->hi <= CONSTANT)
		return "constant per timer";
	if (fit->lo > CHAINED && per_bucket > LONG_CHAIN)
		return "grows with N as a walk along chains does";
	if (fit->lo > CONSTANT && per_bucket > LONG_CHAIN)
		return "grows with N; chains of this length and fuller caches both can do that";
	if (fit->lo > CONSTANT)
		return "grows with N, not by chains, which are short: by caches";
	return "not decided: the interval is too wide";
}

void tlat_scale_judge_timers(struct tlat_findings *findings, const char *phase,
			     const struct tlat_fit *fit, const struct tlat_scale_hash *hash,
			     int64_t timers, double contention, bool shared)
{
	double per_bucket = hash->buckets ? (double)timers / (double)hash->buckets : 0;
	char chains[120] = "how many buckets the kernel has is not known", locks[160] = "";

	if (hash->buckets)
		tlat_format(chains, sizeof(chains),
			    "up to %.2g timers in each of %" PRId64 " buckets, %s", per_bucket,
			    hash->buckets, hash->per_bucket_locks ? "a lock for each" : "one lock");
	if (isfinite(contention))
		tlat_format(locks, sizeof(locks),
			    "; with all workers a timer costs %.2f times what it costs one alone%s",
			    contention, contention > CONTENDED ? ": locks, or shared caches" : "");
	tlat_findings_add(findings, TLAT_INFO, "scaling", NULL,
			  "%s: exponent %.2f (%.2f to %.2f), %s; %s%s", phase, fit->slope, fit->lo,
			  fit->hi, shared ? "not judged" : growth(fit, per_bucket), chains, locks);
}

void tlat_scale_judge(struct tlat_findings *findings, const char *what, const char *unit,
		      const struct tlat_fit *fit)
{
	const char *words = "not decided: the interval is too wide";

	if (fit->hi < 0.1 && fit->lo > -0.1)
		words = "constant";
	else if (fit->lo > CONSTANT)
		words = "grows faster than their number";
	else if (fit->lo > 0.9 && fit->hi <= CONSTANT)
		words = "grows with their number";
	else if (fit->lo > 0 && fit->hi < 1)
		words = "grows more slowly than their number";
	else if (fit->hi < 0)
		words = "shrinks as their number grows";
	tlat_findings_add(findings, TLAT_INFO, "scaling", NULL,
			  "%s over the number of %s: exponent %.2f (%.2f to %.2f), %s", what, unit,
			  fit->slope, fit->lo, fit->hi, words);
}
