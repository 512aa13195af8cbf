/* SPDX-License-Identifier: Apache-2.0 */
/* The note in AdminComment by which a job may be held, and the tasks of an array's record. */
#include "controller/lease_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "controller/lease_array.h"
#include "tests/unit/tap.h"

static const struct {
	const char *comment;
	unsigned most_min;
	uint64_t first_held_s;
	const char *held_at_9; /* with the time 9 */
} notes[] = {
	{NULL, 0, 0, ""},
	{"", 0, 0, ""},
	{"of the site", 0, 0, "of the site"},
	{"pm_hold=60", 60, 0, "pm_hold=60,9"},
	{"pm_hold=60,1732690000", 60, 1732690000, "pm_hold=60,9"},
	{"pm_hold=60; pm_mode=flat", 60, 0, "pm_hold=60,9; pm_mode=flat"},
	{"pm_hold=60,7; pm_mode=flat", 60, 7, "pm_hold=60,9; pm_mode=flat"},
	{"of the site; pm_hold=5,7; pm: held, x", 5, 7, "of the site; pm_hold=5,9; pm: held, x"},
	{"mypm_hold=60", 0, 0, "mypm_hold=60"},
	{"mypm_hold=60; pm_hold=3", 3, 0, "mypm_hold=60; pm_hold=3,9"},
	{"pm_hold=9999999", 0, 0, "pm_hold=9999999,9"},
	{"pm_hold=600000", 0, 0, "pm_hold=600000,9"},
};

static void test_notes(void)
{
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		struct pm_lease_note note = pm_lease_note_read(notes[i].comment);
		cleanup_free char *written = pm_lease_note_write(notes[i].comment, 9);
		bool good = note.most_min == notes[i].most_min &&
			    note.first_held_s == notes[i].first_held_s && written &&
			    !strcmp(written, notes[i].held_at_9);

		ok(good, "'%s': %u, %" PRIu64 ", '%s'",
			notes[i].comment ? notes[i].comment : "none", note.most_min,
			note.first_held_s, written ? written : "");
	}
}

static const struct {
	const char *tasks;
	size_t count;
	const char *first_3;
} arrays[] = {
	{NULL, 1, ""},
	{"", 1, ""},
	{"7", 1, "7"},
	{"0-9", 10, "0,1,2"},
	{"3,7-9,12", 5, "3,7,8"},
	{"10-20:2%4", 6, "10,12,14"},
	{"1,5%1", 2, "1,5"},
	{"9-3", 1, ""},
};

static void test_arrays(void)
{
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		size_t count = pm_lease_array_count(arrays[i].tasks);
		cleanup_free char *first = pm_lease_array_first(arrays[i].tasks, 3);
		bool good = count == arrays[i].count && first && !strcmp(first, arrays[i].first_3);

		ok(good, "tasks %s: %zu, first %s", arrays[i].tasks ? arrays[i].tasks : "none",
			count, first ? first : "");
	}
}

static void is_first(
	const struct pm_lease_clock *clock, uint64_t first, uint64_t expected, const char *what)
{
	is_number((long long)pm_lease_clock_first(clock, first), (long long)expected, what);
}

static void test_a_clock_that_is_set(void)
{
	struct pm_lease_clock clock = {0};

	is_first(&clock, 10000, 10000, "not set");
	pm_lease_clock_set(&clock, 600, 20000);
	is_first(&clock, 10000, 10000, "forward: as before");
	pm_lease_clock_set(&clock, -1800, 20000); /* it was 21800 */
	is_first(&clock, 21000, 19200, "back: held for 800 s");
	is_first(&clock, 0, 0, "not held yet");
	is_first(&clock, 1000, 1, "longer than the clock goes");
	is_first(&clock, 21801, 21801, "a hold that began when the clock was there again");
	pm_lease_clock_set(&clock, -1800, 19000);
	is_first(&clock, 21000, 17400, "back once more");
	pm_lease_clock_set(&clock, 3600, 22700);
	is_first(&clock, 21000, 21000, "right again");
}

int main(void)
{
	test_notes();
	test_arrays();
	test_a_clock_that_is_set();
	return tap_done();
}
