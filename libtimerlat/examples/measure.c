// SPDX-License-Identifier: MIT
/* measure.c - how late is a futex wake here, and does it meet a budget? */
#include <err.h>
#include <stdio.h>
#include <timerlat.h>

/* Usage: measure [BUDGET]. Exit status: 0 met, 1 broken, 77 cannot tell, 2 not measured. */
int main(int argc, char **argv)
{
	static const int status[] = { [TLAT_PASS] = 0, [TLAT_FAIL] = 1, [TLAT_INCONCLUSIVE] = 77 };
	const char *budget = argc > 1 ? argv[1] : "p50<50us, p99<500us, n>=1000";
	struct tlat_run_opts opts = TLAT_RUN_OPTS(.probe = "wake-futex", .samples = 10000,
						  .policy = TLAT_SCHED_FIFO, .priority = 40);
	struct tlat_summary summary = { .size = sizeof(summary) };
	const struct tlat_result *result;
	struct tlat_report *report;
	struct tlat_error error;
	struct tlat_finding finding;
	char terms[512];
	int verdict;

	if (tlat_run(&report, &opts, &error) < 0)
		errx(2, "%s", error.text);
	result = tlat_report_result(report, 0);
	tlat_result_summary(result, &summary);
	printf("p50 %.0f ns +- %.0f, p99 %.0f, max %.0f, %llu samples, CPU %d wakes CPU %d\n",
	       summary.p50_ns, summary.u_ns, summary.p99_ns, summary.max_ns,
	       (unsigned long long)summary.recorded, summary.kick_cpu, summary.wait_cpu);
	for (size_t i = 0; tlat_report_finding(report, i, &finding) == 0; i++)
		printf("%s: %s\n", finding.id, finding.text);
	for (size_t i = 0; tlat_result_finding(result, i, &finding) == 0; i++)
		printf("%s: %s\n", finding.id, finding.text);
	verdict = tlat_budget_check(budget, result, terms, sizeof(terms), &error);
	if (verdict < 0)
		errx(2, "%s", error.text);
	printf("%s\n%s\n", terms, tlat_verdict_name(verdict));
	tlat_report_free(report);
	return status[verdict];
}
