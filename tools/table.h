/* SPDX-License-Identifier: MIT */
/*
 * table.h - aligned columns of text. table_smartcols.c or table_plain.c draws
 * them, whichever the build chose.
 */
#ifndef TLAT_TABLE_H
#define TLAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tlat_column {
	const char *title;
	bool right; /* numbers */
};

struct tlat_table;

/* NULL when memory is short; the other calls accept that and do nothing. */
struct tlat_table *tlat_table_new(const struct tlat_column *columns, size_t n);
/* Add a row of n cells, which are copied. */
void tlat_table_row(struct tlat_table *table, const char *const *cells);
void tlat_table_print(struct tlat_table *table, FILE *out);
void tlat_table_free(struct tlat_table *table);

#endif /* TLAT_TABLE_H */
