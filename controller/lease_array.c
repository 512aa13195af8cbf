/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lease_array.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
	unsigned long first, last, step;
};

/* Reads the next range, and moves *at past the comma after it. False if there is no valid range. */
static bool next_range(const char **at, struct range *ret)
{
	char *end;
	struct range range = {.step = 1};

	range.first = range.last = strtoul(*at, &end, 10);
	if (end == *at)
		return false;
	if (*end == '-')
		range.last = strtoul(end + 1, &end, 10);
	if (*end == ':')
		range.step = strtoul(end + 1, &end, 10);
	*at = end + (*end == ',');
	*ret = range;
	return range.last >= range.first && range.step;
}

size_t pm_lease_array_count(const char *tasks)
{
	size_t count = 0;
	struct range range;

	while (tasks && next_range(&tasks, &range))
		count += (range.last - range.first) / range.step + 1;
	return count ? count : 1;
}

char *pm_lease_array_first(const char *tasks, size_t n)
{
	char *text = NULL;
	size_t length, count = 0;
	struct range range;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	while (tasks && count < n && next_range(&tasks, &range))
		for (unsigned long id = range.first; id <= range.last && count < n;
			id += range.step)
			fprintf(out, "%s%lu", count++ ? "," : "", id);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
