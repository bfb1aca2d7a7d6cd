// SPDX-License-Identifier: MIT
/* table_smartcols.c - tables drawn by libsmartcols. */
#include <stdlib.h>
#include <string.h>

#include <libsmartcols.h>

#include "table.h"

struct tlat_table {
	struct libscols_table *scols;
	size_t n_columns;
};

struct tlat_table *tlat_table_new(const struct tlat_column *columns, size_t n)
{
	struct tlat_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->n_columns = n;
	table->scols = scols_new_table();
	if (!table->scols) {
		free(table);
		return NULL;
	}
	/* The same text on a terminal and in a file: nothing is cut to a width. */
	scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; i < n; i++)
		scols_table_new_column(table->scols, columns[i].title, 0,
				       columns[i].right ? SCOLS_FL_RIGHT : 0);
	return table;
}

void tlat_table_row(struct tlat_table *table, const char *const *cells)
{
	struct libscols_line *line;

	if (!table)
		return;
	line = scols_table_new_line(table->scols, NULL);
	for (size_t i = 0; line && i < table->n_columns; i++)
		scols_line_set_data(line, i, cells[i]);
}

void tlat_table_print(struct tlat_table *table, FILE *out)
{
	char *text;

	if (!table || scols_print_table_to_string(table->scols, &text) < 0)
		return;
	fputs(text, out);
	/* The string ends in a newline in some versions only. */
	if (*text && text[strlen(text) - 1] != '\n')
		fputc('\n', out);
	free(text);
}

void tlat_table_free(struct tlat_table *table)
{
	if (!table)
		return;
	scols_unref_table(table->scols);
	free(table);
}
