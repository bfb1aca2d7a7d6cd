/* SPDX-License-Identifier: MIT */
/* compare_table.h - a comparison as people read it, and in the looks that others are used to. */
#ifndef TLAT_COMPARE_TABLE_H
#define TLAT_COMPARE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include <timerlat.h>

/* What differs, a table of the figures, then for each item its noise and its verdict. */
void tlat_compare_print(const struct tlat_comparison *comparison, FILE *out);
/* A line "verdict: WORD" for each item with the reason, and one for the whole. */
void tlat_compare_print_verdict(const struct tlat_comparison *comparison, FILE *out);
/* As the kernel's test robot writes it; "benchstat" as Go's tool does. */
void tlat_compare_print_lkp(const struct tlat_comparison *comparison, FILE *out);
void tlat_compare_print_benchstat(const struct tlat_comparison *comparison, FILE *out);

/* The ratio along the distribution, with its band (shift_plot.c). */
void tlat_shift_plot(const struct tlat_comparison *comparison, size_t item, FILE *out);

/* Exit code of a verdict; for git bisect run, what is not decided is 125, "skip this one". */
int tlat_compare_exit(int verdict, bool bisect);

/* A quantity in its unit: "1.080us", "1.2 MB". text holds TLAT_QUANTITY_TEXT bytes. */
const char *tlat_compare_value(double value, const char *unit, char *text);

#endif /* TLAT_COMPARE_TABLE_H */
