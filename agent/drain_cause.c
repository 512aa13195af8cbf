/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/drain_cause.h"

#include <string.h>

static const struct row {
	const char *cause, *begin, *part; /* part NULL: the reason is empty */
} rows[] = {
#define PM_DRAIN_CAUSE(cause, begin, part) {cause, begin, part},
#include "agent/drain_causes.def"
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static int fits(const struct row *row, const char *reason)
{
	if (!row->part)
		return !*reason;
	return !strncmp(reason, row->begin, strlen(row->begin)) && strstr(reason, row->part);
}

const char *pm_drain_cause(const char *reason)
{
	const struct row *row = rows;

	while (row < rows + N_ROWS - 1 && !fits(row, reason ? reason : ""))
		row++;
	return row->cause;
}

/* Rows of one cause stand beside each other. */
const char *const *pm_drain_causes(void)
{
	static const char *causes[N_ROWS + 1];
	size_t n = 0;

	for (size_t i = 0; i < N_ROWS; i++)
		if (!n || strcmp(causes[n - 1], rows[i].cause) != 0)
			causes[n++] = rows[i].cause;
	causes[n] = NULL;
	return causes;
}
