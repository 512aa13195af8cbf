/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OS_JOURNAL_H
#define PM_OS_JOURNAL_H

/*
 * The journal of the last change of the sub-state: the target, and the steps. One JSON file,
 * replaced as a whole before the steps of each kind are taken. Recovery is computed from the
 * present state (node/act/steps.h). This file shows people the history, and keeps facts that cannot
 * be observed: settings of the kernel to restore, and regions with free space that was not wiped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/store.h"
#include "node/tools/kernel.h"
#include "site/modes.h"

enum pm_os_state {
	PM_OS_NONE = 0, /* no file */
	PM_OS_ACTING,
	PM_OS_DONE,
	PM_OS_FAILED,
};

struct pm_os_step {
	char time[32]; /* UTC */
	char *text;    /* the command */
};

struct pm_os_journal {
	enum pm_os_state state;
	enum pm_substate wanted;
	char boot_id[PM_BOOT_ID_MAX];
	char policy[32]; /* auto_online_blocks, to restore in this boot, or "" */
	bool demotion;	 /* pmctl has turned demotion on, to be turned off in this boot */
	char *reason;	 /* of FAILED; NULL else */
	uint64_t *dirty; /* dirty regions: interleave sets with free space that may hold bytes of
			    jobs */
	size_t n_dirty;
	struct pm_os_step *steps;
	size_t n_steps;
};

/*
 * The file, a struct pm_os_journal; a missing one is PM_OS_NONE. Release with pm_os_journal_done().
 */
extern const struct pm_store pm_os_journal_store;

/* Starts a new change. Settings to restore in this boot, and dirty regions, are kept. */
void pm_os_journal_begin(
	struct pm_os_journal *journal, enum pm_substate wanted, const char *boot_id);

/* Dirty regions, by interleave set; the marks survive reboots. Marking a marked one is fine. */
bool pm_os_journal_is_dirty(const struct pm_os_journal *journal, uint64_t iset_id);
int pm_os_journal_mark(struct pm_os_journal *journal, uint64_t iset_id, struct pm_err *err);
void pm_os_journal_unmark(struct pm_os_journal *journal, uint64_t iset_id);

/* Adds a step with the present time. */
int pm_os_journal_add(struct pm_os_journal *journal, const char *text, struct pm_err *err);

/* Enters DONE, or FAILED with a reason. */
int pm_os_journal_end(struct pm_os_journal *journal, const char *reason, struct pm_err *err);

void pm_os_journal_done(struct pm_os_journal *journal);

#endif
