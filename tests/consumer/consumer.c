// SPDX-License-Identifier: MIT
/* consumer.c - an outside C11 program: compiled, linked, and it measures. */
#include <stdio.h>
#include <string.h>
#include <timerlat.h>

int main(void)
{
	struct tlat_run_opts opts = TLAT_RUN_OPTS(.probe = "null", .samples = 1000);
	struct tlat_summary summary = { .size = sizeof(summary) };
	struct tlat_report *report;
	struct tlat_error error;

	if (strcmp(tlat_version(), TLAT_VERSION) != 0)
		return 1;
	if (tlat_run(&report, &opts, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	tlat_result_summary(tlat_report_result(report, 0), &summary);
	printf("null: %llu samples\n", (unsigned long long)summary.recorded);
	tlat_report_free(report);
	return summary.recorded == 1000 ? 0 : 3;
}
