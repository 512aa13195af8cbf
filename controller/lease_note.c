/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lease_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"

#define KEY	"pm_hold="
#define DIGITS	"0123456789"
#define MAX_MIN 525600

const char *pm_note_find(const char *comment, const char *name)
{
	const char *at = comment ? strstr(comment, name) : NULL;

	while (at && at != comment && at[-1] != ' ')
		at = strstr(at + 1, name);
	return at ? at + strlen(name) : NULL;
}

struct pm_lease_note pm_lease_note_read(const char *comment)
{
	struct pm_lease_note note = {0};
	const char *value = pm_note_find(comment, KEY);

	if (!value || strspn(value, DIGITS) > 6)
		return note;
	note.most_min = (unsigned)strtoul(value, NULL, 10);
	value += strspn(value, DIGITS);
	if (note.most_min > MAX_MIN)
		note.most_min = 0;
	if (*value == ',' && strspn(value + 1, DIGITS) <= 12)
		note.first_held_s = strtoull(value + 1, NULL, 10);
	return note;
}

char *pm_lease_note_write(const char *comment, uint64_t first_held_s)
{
	const char *value = pm_note_find(comment, KEY), *end;

	if (!value)
		return strdup(comment ? comment : "");
	end = value + strspn(value, DIGITS);
	return pm_asprintf("%.*s,%" PRIu64 "%s", (int)(end - comment), comment, first_held_s,
		end + strspn(end, DIGITS ","));
}

void pm_lease_clock_set(struct pm_lease_clock *clock, int64_t by_s, uint64_t now_s)
{
	uint64_t s = (uint64_t)(by_s < 0 ? -by_s : by_s);

	if (by_s > 0) {
		clock->by_s -= s < clock->by_s ? s : clock->by_s;
		return;
	}
	clock->by_s += s;
	if (clock->until_s < now_s + s)
		clock->until_s = now_s + s;
}

uint64_t pm_lease_clock_first(const struct pm_lease_clock *clock, uint64_t first_held_s)
{
	if (!first_held_s || first_held_s > clock->until_s)
		return first_held_s;
	return first_held_s > clock->by_s ? first_held_s - clock->by_s : 1;
}
