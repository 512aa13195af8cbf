/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OS_JOURNAL_H
#define PM_OS_JOURNAL_H

/*
 * The last change of the sub-state: what was wanted, each step as it was about to be taken, and
 * what the kernel must be given back. One JSON file, replaced as a whole before each step. What is
 * to be done after a crash is decided from what is there (node/act/steps.h); this file tells people
 * how it came to be, and remembers what cannot be seen: what the kernel is to be given back, and
 * regions whose free space was not wiped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
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
	char policy[32]; /* of auto_online_blocks, to be put back in this boot; "" for none */
	bool demotion;	 /* of pages was off, and is to be off again in this boot */
	char *reason;	 /* of FAILED; NULL else */
	uint64_t *dirty; /* interleave sets whose free space may hold bytes of ours */
	size_t n_dirty;
	struct pm_os_step *steps;
	size_t n_steps;
};

/* "none", "acting", "done", "failed". */
const char *pm_os_state_name(enum pm_os_state state);

/* A missing file is PM_OS_NONE. -EBADMSG: it cannot be understood, and is kept. */
int pm_os_journal_read(const char *path, struct pm_os_journal *ret, struct pm_err *err);

/* Starts a new change; what this boot still has to get back is kept. */
void pm_os_journal_begin(
	struct pm_os_journal *journal, enum pm_substate wanted, const char *boot_id);

/* Is the region with this interleave set dirty? It survives reboots. */
bool pm_os_journal_is_dirty(const struct pm_os_journal *journal, uint64_t iset_id);
int pm_os_journal_mark(struct pm_os_journal *journal, uint64_t iset_id, struct pm_err *err);
void pm_os_journal_unmark(struct pm_os_journal *journal, uint64_t iset_id);

/* Adds a step with the time of now. */
int pm_os_journal_add(struct pm_os_journal *journal, const char *text, struct pm_err *err);

/* Enters DONE, or FAILED with a reason. */
int pm_os_journal_end(struct pm_os_journal *journal, const char *reason, struct pm_err *err);

/* Writes the file as a whole, mode 0644. */
int pm_os_journal_write(const char *path, const struct pm_os_journal *journal, struct pm_err *err);

void pm_os_journal_done(struct pm_os_journal *journal);

#endif
