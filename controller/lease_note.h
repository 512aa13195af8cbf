/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LEASE_NOTE_H
#define PM_LEASE_NOTE_H

/*
 * The note in a job's AdminComment by which it may be held, "pm_hold=60" or
 * "pm_hold=60,1732690000": HoldTime in minutes, as pmem.lua wrote it at the submission, and the
 * time of the first hold, as pm-controller wrote it then. Users cannot change it, and it outlives a
 * restart of both. Other texts stand before and behind it, "; " between.
 */
#include <stdint.h>

struct pm_lease_note {
	unsigned most_min;     /* 0: no note, so the job is never held */
	uint64_t first_held_s; /* Unix time; 0: it has not been held */
};

/* `comment` may be NULL. A malformed note is none. */
struct pm_lease_note pm_lease_note_read(const char *comment);

/* The comment with the time of the first hold in its note, malloc'ed; NULL when out of memory. */
char *pm_lease_note_write(const char *comment, uint64_t first_held_s);

/*
 * The text behind "name=" in a comment, where that begins a word; NULL: there is none. A word of
 * the site's may end like the name.
 */
const char *pm_note_find(const char *comment, const char *name);

/*
 * A clock that was set back: holds that began at `until_s` or earlier began `by_s` earlier than
 * their notes have it, so that no job waits longer. Those of the first `by_s` after that may end as
 * much too early. All-zero: it was not set back.
 */
struct pm_lease_clock {
	uint64_t until_s, by_s;
};

/* The clock was set by so many seconds, forward or back, and is `now_s` now. */
void pm_lease_clock_set(struct pm_lease_clock *clock, int64_t by_s, uint64_t now_s);

/* The time of a first hold by the present clock; 0 stays 0. */
uint64_t pm_lease_clock_first(const struct pm_lease_clock *clock, uint64_t first_held_s);

#endif
