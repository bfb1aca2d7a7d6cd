// SPDX-License-Identifier: MIT
/*
 * compare_lacks.c - what a figure can lack to be a ratio between runs, and the words for it.
 */
#include <math.h>

#include "compare.h"

const struct tlat_lack_text tlat_lacks[TLAT_LACKS] = {
	[TLAT_NOT_EVERYWHERE] = { .id = "not-everywhere",
				  .what = "not in every run",
				  .severity = TLAT_WARN },
	[TLAT_SOME_ZERO] = { .id = "metric-zero",
			     .remedy = "measure for longer",
			     .what = "not above 0 in every run, as a ratio needs",
			     .severity = TLAT_WARN },
	[TLAT_ALL_ZERO] = { .id = "metric-zero", .what = "0 in every run", .severity = TLAT_INFO },
	[TLAT_UNEQUAL_TIMES] = { .id = "unequal-times",
				 .remedy = "measure all runs for as long",
				 .what = "larger the longer one looks, and the runs are not of one "
					 "length",
				 .severity = TLAT_WARN },
};

void tlat_note_lack(struct tlat_findings *notes, enum tlat_lack lack, const char *name,
		    const char *figures)
{
	tlat_findings_add(notes, tlat_lacks[lack].severity, tlat_lacks[lack].id,
			  tlat_lacks[lack].remedy, "%s: %s, and not compared: %s", name,
			  tlat_lacks[lack].what, figures);
}

bool tlat_about_same(double a, double b, double limit)
{
	return fabs(log(a / b)) <= limit;
}
