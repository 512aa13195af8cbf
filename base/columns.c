/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"

static void add(struct pm_columns *columns, char *text)
{
	char **grown = reallocarray(columns->cells, columns->n_cells + 1, sizeof(*grown));

	if (grown)
		columns->cells = grown;
	if (grown && text)
		columns->cells[columns->n_cells++] = text;
	else
		free(text);
	columns->failed |= !grown || !text;
}

void pm_columns_add(struct pm_columns *columns, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(columns, pm_vasprintf(fmt, args));
	va_end(args);
}

void pm_columns_head(struct pm_columns *columns, const char *head, bool right)
{
	columns->right[columns->n++] = right;
	add(columns, strdup(head));
}

static const char *cell(const struct pm_columns *columns, size_t row, size_t column)
{
	return columns->cells[row * columns->n + column];
}

/* 0: the column has only a head. */
static size_t width_of(const struct pm_columns *columns, size_t column)
{
	size_t width = 0, rows = columns->n_cells / columns->n;

	for (size_t row = 1; row < rows; row++)
		if (strlen(cell(columns, row, column)) > width)
			width = strlen(cell(columns, row, column));
	return width && width < strlen(cell(columns, 0, column)) ? strlen(cell(columns, 0, column))
								 : width;
}

/* Holds blanks back until a text follows, so that no line ends in blanks. */
static void print_row(const struct pm_columns *columns, size_t row, const size_t *widths, FILE *out)
{
	size_t owed = 0;

	for (size_t i = 0; i < columns->n; i++) {
		const char *text = cell(columns, row, i);
		size_t blanks = widths[i] ? widths[i] - strlen(text) : 0;

		if (!widths[i])
			continue;
		owed += columns->right[i] ? blanks : 0;
		if (*text) {
			fprintf(out, "%*s%s", (int)owed, "", text);
			owed = 0;
		}
		owed += 2 + (columns->right[i] ? 0 : blanks);
	}
	putc('\n', out);
}

int pm_columns_print(struct pm_columns *columns, FILE *out)
{
	size_t widths[PM_COLUMNS_MAX];
	int rc = columns->failed ? -ENOMEM : 0;

	for (size_t i = 0; !rc && i < columns->n; i++)
		widths[i] = width_of(columns, i);
	for (size_t row = 0; !rc && row < columns->n_cells / columns->n; row++)
		print_row(columns, row, widths, out);
	for (size_t i = 0; i < columns->n_cells; i++)
		free(columns->cells[i]);
	free(columns->cells);
	*columns = (struct pm_columns){0};
	return rc;
}
