/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_IDLE_H
#define PM_IDLE_H

/*
 * The idle mark: the flat memory of a job that has ended stays for the next one, until it has been
 * idle for SubstateIdleTime. The mark is RunDir/idle.json. It is written before the job's record
 * is removed, and removed once the flat memory is gone or another job has it, so flat memory is
 * never without a record or a mark. RunDir is empty after a boot, and so is the memory.
 *
 * Why it need not be wiped meanwhile: the kernel has the memory, and zeroes each page before it
 * gives it to another process, as it does for DRAM. It is wiped when the kernel has given it back:
 * before its device, which shows all bytes, can be another's (node/act/steps.h).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "node/tools/kernel.h"
#include "site/config.h"

/* The marks of prologs below RunDir, a file for each job (spank_plugin/prolog_mark.h). */
#define PM_PROLOG_MARKS "prologs"

struct pm_idle {
	char boot_id[PM_BOOT_ID_MAX];
	uint64_t since_s; /* by CLOCK_BOOTTIME, which setting the system's clock does not change */
	bool is_offline;  /* the kernel has given the memory back, which is still to be wiped */
};

/* Writes the mark: idle from now on. */
int pm_idle_mark(const struct pm_config *config, struct pm_err *err);

/* Notes in the mark that the memory is offline. Does nothing without a mark. */
int pm_idle_mark_offline(const struct pm_config *config, struct pm_err *err);

/* Removes the mark; a missing one is fine. */
int pm_idle_forget(const struct pm_config *config, struct pm_err *err);

/*
 * Reads the mark. Returns false if there is none. If the mark cannot be read, or an earlier boot
 * has written it, *ret is zeros.
 */
bool pm_idle_read(const struct pm_config *config, struct pm_idle *ret);

/* True if there is a mark, and the kernel still has the memory: a job would see it. */
bool pm_idle_is_online(const struct pm_config *config);

/* True if there is a mark, SubstateIdleTime has passed since it was made, and no job is here. */
bool pm_idle_is_due(const struct pm_config *config);

/*
 * True if a job other than `job_id` (0: any job) is between its prolog and its epilog on this node,
 * with or without a mode. Also if that cannot be read.
 */
bool pm_idle_has_jobs(const struct pm_config *config, uint32_t job_id);

/*
 * A wipe of idle memory takes minutes under the lock of the state, and may be killed at any time:
 * it has no tools running, and the memory is wiped again later. So whoever needs the lock kills it.
 * pm_idle_wipe_begin() returns a descriptor, to be closed when the wipe ends; negative: the wipe
 * cannot be killed.
 */
int pm_idle_wipe_begin(const struct pm_config *config);
bool pm_idle_wipe_runs(const struct pm_config *config);
void pm_idle_wipe_stop(const struct pm_config *config);

#endif
