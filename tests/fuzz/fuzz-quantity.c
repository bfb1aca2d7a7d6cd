// SPDX-License-Identifier: MIT
/* fuzz-quantity.c - a time that is read has a spelling that reads back as the same number. */
#include "../../tools/quantity.h"
#include "fuzz.h"

static void check_refusal(const char *why)
{
	must(*why && strlen(why) < TLAT_WHY_TEXT, "a refusal has a reason");
}

static void check_time(int64_t ns)
{
	char text[TLAT_QUANTITY_TEXT], why[TLAT_WHY_TEXT];
	int64_t again;

	tlat_time_exact(ns, text);
	must(tlat_time_parse(text, &again, why) == 0, "an exact time can be read");
	must(again == ns, "and is the same number");
	for (int digits = 2; digits <= 4; digits++)
		must(strlen(tlat_time_short((double)ns, digits, text)) < sizeof(text),
		     "a short time is short");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n), why[TLAT_WHY_TEXT] = "";
	int64_t value;

	if (tlat_time_parse(text, &value, why) == 0)
		check_time(value);
	else
		check_refusal(why);
	*why = '\0';
	if (tlat_count_parse(text, &value, why) == 0)
		must(value >= 0, "a count is not negative");
	else
		check_refusal(why);
	free(text);
	return 0;
}
