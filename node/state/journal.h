/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOURNAL_H
#define PM_JOURNAL_H

/*
 * The journal of the last change of the platform mode: its target, its state, and each step with
 * its time. One JSON file, written as a whole before each step, so that `pmctl verify` can finish
 * or undo the change after a crash at any point. A file that cannot be parsed is an error that
 * names it, and is never overwritten.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/store.h"
#include "node/tools/kernel.h"
#include "site/modes.h"

enum pm_journal_state {
	PM_JOURNAL_NONE = 0,  /* no file: no change yet */
	PM_JOURNAL_INTENT,    /* the goal is about to be written */
	PM_JOURNAL_STAGED,    /* the goal is written and was read back */
	PM_JOURNAL_REBOOTING, /* staged, and a reboot was requested */
	PM_JOURNAL_DONE,      /* verified after the reboot */
	PM_JOURNAL_FAILED,    /* the change failed, see reason */
	PM_JOURNAL_UNDONE,    /* no goal is left, the mode is as before */
	PM_JOURNAL_CLEARED,   /* a failure that an administrator cleared */
	PM_JOURNAL_STATE_MAX,
};

struct pm_journal_step {
	char time[32]; /* UTC, "2026-01-31T12:34:56.789Z" */
	char boot_id[PM_BOOT_ID_MAX];
	enum pm_journal_state state;
	char *text; /* one sentence */
};

struct pm_journal {
	enum pm_journal_state state;
	enum pm_mode mode, from;      /* the target, and the mode before */
	char boot_id[PM_BOOT_ID_MAX]; /* the boot in which the goal was written */
	bool for_job;		      /* ordered by Slurm's helper, else by an administrator */
	uint64_t ordered_s;	      /* for_job: time of the order, pm_journal_clock() */
	char *reason;		      /* of FAILED and UNDONE; NULL else */
	struct pm_journal_step *steps;
	size_t n_steps;
};

/* "none", "intent", "staged", ... */
const char *pm_journal_state_name(enum pm_journal_state state);

/* True if a goal of pmctl waits for its reboot or its verification. */
bool pm_journal_is_open(const struct pm_journal *journal);

/* Seconds since the boot (CLOCK_BOOTTIME), which nothing can set. */
uint64_t pm_journal_clock(void);

/* Sets `for_job` and `ordered_s`; the caller writes the journal. */
void pm_journal_order(struct pm_journal *journal, bool for_job);

/*
 * The file, a struct pm_journal; a missing one is PM_JOURNAL_NONE. Release with pm_journal_done().
 */
extern const struct pm_store pm_journal_store;

/* Starts a new change in the state INTENT and frees the previous one. */
int pm_journal_begin(struct pm_journal *journal, enum pm_mode mode, enum pm_mode from,
	const char *boot_id, struct pm_err *err);

/*
 * Enters a state: adds a step with the present time. `text` becomes the reason of FAILED and
 * UNDONE.
 */
int pm_journal_step(struct pm_journal *journal, enum pm_journal_state state, const char *boot_id,
	const char *text, struct pm_err *err);

/* The text of the file; malloc'ed, NULL when out of memory. */
char *pm_journal_format(const struct pm_journal *journal);

void pm_journal_done(struct pm_journal *journal);

#endif
