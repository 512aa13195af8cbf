/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HISTORY_H
#define PM_HISTORY_H

/*
 * The history: the last changes of the platform mode that have ended, oldest first. One JSON file,
 * replaced as a whole. An entry is written before the journal enters the state in which the change
 * ends, so that no crash loses it: a change that ends twice, since a crash came in between, has the
 * same boot and start, and replaces its entry. Nothing is decided by the history, so a malformed
 * file is set aside, and no change fails for want of it.
 */
#include "node/state/journal.h"

#define PM_HISTORY_MAX 256 /* entries; the oldest go first */

struct pm_history_entry {
	char start[32], end[32];      /* UTC, as in the journal */
	uint64_t seconds;	      /* from start to end; 0 if the clock was set back meanwhile */
	char boot_id[PM_BOOT_ID_MAX]; /* the boot in which the goal was written */
	enum pm_mode mode, from;      /* the target, and the mode before */
	bool for_job;		      /* ordered by Slurm's helper, else by an administrator */
	enum pm_journal_state outcome; /* DONE, FAILED or UNDONE */
	char *reason;		       /* of FAILED and UNDONE; NULL else */
};

struct pm_history {
	struct pm_history_entry *list;
	size_t n;
};

/* The file, a struct pm_history; a missing one is empty. Release with pm_history_done(). */
extern const struct pm_store pm_history_store;

/* True if a change ends in this state. */
bool pm_history_is_end(enum pm_journal_state state);

/* Adds the journal's change, which has ended, or replaces its entry. -ENOMEM. */
int pm_history_add(
	struct pm_history *history, const struct pm_journal *journal, struct pm_err *err);

/* The text of the file; malloc'ed, NULL when out of memory. */
char *pm_history_format(const struct pm_history *history);

void pm_history_done(struct pm_history *history);

#endif
