/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COLUMNS_H
#define PM_COLUMNS_H

/* A table of text. A column is as wide as its widest cell. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PM_COLUMNS_MAX 16

struct pm_columns {
	size_t n;		    /* of columns */
	bool right[PM_COLUMNS_MAX]; /* numbers are set flush right */
	char **cells;		    /* row by row, the heads first */
	size_t n_cells;
	bool failed; /* out of memory: nothing is printed */
};

/* Adds the next cell, formatted as by printf(3). */
__attribute__((format(printf, 2, 3))) void pm_columns_add(
	struct pm_columns *columns, const char *fmt, ...);

/* Adds a column with its head; `right`: flush right. All columns come before the first cell. */
void pm_columns_head(struct pm_columns *columns, const char *head, bool right);

/* Prints two blanks between columns, none at a line's end, and leaves out columns that have only a
 * head. Releases the table. -ENOMEM: a cell was lost, and nothing is printed. */
int pm_columns_print(struct pm_columns *columns, FILE *out);

#endif
