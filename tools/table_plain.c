// SPDX-License-Identifier: MIT
/* table_plain.c - tables without libsmartcols. */
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "text.h"

struct tlat_table {
	struct tlat_column *columns;
	size_t n_columns, n_rows;
	char **cells; /* n_rows times n_columns */
};

struct tlat_table *tlat_table_new(const struct tlat_column *columns, size_t n)
{
	struct tlat_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->n_columns = n;
	table->columns = calloc(n, sizeof(*columns));
	if (!table->columns) {
		free(table);
		return NULL;
	}
	memcpy(table->columns, columns, n * sizeof(*columns));
	return table;
}

void tlat_table_row(struct tlat_table *table, const char *const *cells)
{
	size_t n;
	char **grown;

	if (!table)
		return;
	n = table->n_rows * table->n_columns;
	grown = realloc(table->cells, (n + table->n_columns) * sizeof(*grown));
	if (!grown)
		return;
	table->cells = grown;
	for (size_t i = 0; i < table->n_columns; i++)
		grown[n + i] = strdup(cells[i]);
	table->n_rows++;
}

static const char *cell(const struct tlat_table *table, size_t row, size_t column)
{
	const char *text = table->cells[row * table->n_columns + column];

	return text ? text : "?";
}

static size_t column_width(const struct tlat_table *table, size_t column)
{
	size_t width = tlat_text_columns(table->columns[column].title);

	for (size_t row = 0; row < table->n_rows; row++) {
		size_t w = tlat_text_columns(cell(table, row, column));

		if (w > width)
			width = w;
	}
	return width;
}

static void print_cell(const struct tlat_table *table, size_t column, const char *text, FILE *out)
{
	int pad = (int)(column_width(table, column) - tlat_text_columns(text));
	bool last = column + 1 == table->n_columns;

	if (column)
		fputc(' ', out);
	if (table->columns[column].right)
		fprintf(out, "%*s%s", pad, "", text);
	else
		fprintf(out, "%s%*s", text, last ? 0 : pad, "");
}

void tlat_table_print(struct tlat_table *table, FILE *out)
{
	if (!table)
		return;
	for (size_t column = 0; column < table->n_columns; column++)
		print_cell(table, column, table->columns[column].title, out);
	fputc('\n', out);
	for (size_t row = 0; row < table->n_rows; row++) {
		for (size_t column = 0; column < table->n_columns; column++)
			print_cell(table, column, cell(table, row, column), out);
		fputc('\n', out);
	}
}

void tlat_table_free(struct tlat_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table->columns);
	free(table);
}
