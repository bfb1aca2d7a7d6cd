// SPDX-License-Identifier: MIT
/* fuzz-budget.c - any budget is judged or refused, and what is refused once is refused always. */
#include "budget.h"
#include "fuzz.h"

static struct tlat_hist *some_values(void)
{
	struct tlat_hist *hist;

	must(tlat_hist_new(&hist, 1000000000) == 0, "memory");
	for (int64_t i = 0; i < 5000; i++)
		tlat_hist_record(hist, i * i % 90001 - 3);
	return hist;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct tlat_hist *hist;
	char *text = fuzz_text(data, n), said[600] = "";
	struct tlat_error error = { 0 };
	struct tlat_budget_input in = { .n = 5000, .mean_ns = 45000 };
	int grammar, verdict;

	if (!hist)
		hist = some_values();
	in.hist = hist;
	in.early = tlat_hist_early(hist);
	grammar = tlat_budget_eval(text, NULL, NULL, 0, &error);
	verdict = tlat_budget_eval(text, &in, said, sizeof(said), &error);
	must((grammar < 0) == (verdict < 0), "a budget is readable or it is not");
	must(verdict >= 0 || *error.text, "a refusal has a reason");
	must(verdict < 0 || *said, "a verdict has a reason");
	free(text);
	return 0;
}
