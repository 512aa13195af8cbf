/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_STATE_H
#define PM_AGENT_STATE_H

/*
 * The files of pmctl: journals, history, pins, roster and the lock in StateDir, the mode record of
 * this boot in RunDir. Errors: those of base/store.h, and of the file's own header.
 */
#include "node/operation.h"
#include "node/state/history.h"
#include "node/state/journal.h"
#include "node/state/os_journal.h"
#include "node/state/pins.h"
#include "node/state/record.h"
#include "node/state/roster.h"

/*
 * Makes both directories if they are missing, checks that only root can change them, and takes the
 * lock that every process holds while it changes the node. If the lock is held, reports the holder
 * and waits up to 10 s. -EBUSY: it is still held. Close *ret_fd to release it. The site's health
 * check is ended if it runs (node/state/check_lock.h).
 *
 * With the lock, files of a newer slurm-pmem are set aside, each with a warning: journal, history,
 * roster and counters. Of the other files such a one is an error, -EPROTONOSUPPORT: pins are kept,
 * since a namespace could be destroyed without them; the journal of sub-states is replaced by the
 * next change of the sub-state, the mode record by pm_renew_record() (node/act/renew_record.h).
 *
 * Lock order: sweep.lock (node/act/sweeper.h), this one, ipmctl.lock (node/tools/tool_locks.h). A
 * process that holds this one never waits for sweep.lock nor check.lock: it kills the holders.
 */
int pm_state_lock(const struct pm_operation *op, int *ret_fd, struct pm_err *err);

/* The same with another limit: the end of one job may block the begin of another. */
int pm_state_lock_within(
	const struct pm_operation *op, unsigned wait_s, int *ret_fd, struct pm_err *err);

/* True if there are files that the lock sets aside, or such a mode record. */
bool pm_state_has_newer(const struct pm_config *config);

int pm_state_read_journal(
	const struct pm_config *config, struct pm_journal *ret, struct pm_err *err);

/*
 * Enters a state and writes the journal. A change that ends goes to the history first, and is
 * counted (node/state/counters.h); if that fails, it is a warning.
 */
int pm_state_step(const struct pm_operation *op, struct pm_journal *journal,
	enum pm_journal_state state, const char *boot_id, const char *text, struct pm_err *err);

/* The changes that have ended. */
int pm_state_read_history(
	const struct pm_config *config, struct pm_history *ret, struct pm_err *err);

int pm_state_write_journal(
	const struct pm_config *config, const struct pm_journal *journal, struct pm_err *err);

int pm_state_read_os_journal(
	const struct pm_config *config, struct pm_os_journal *ret, struct pm_err *err);
int pm_state_write_os_journal(
	const struct pm_config *config, const struct pm_os_journal *journal, struct pm_err *err);

/* Writes it in the place of one of a newer slurm-pmem, which is kept aside; a warning says so. */
int pm_state_replace_newer_os_journal(
	const struct pm_operation *op, const struct pm_os_journal *journal, struct pm_err *err);

int pm_state_read_pins(const struct pm_config *config, struct pm_pins *ret, struct pm_err *err);
int pm_state_write_pins(
	const struct pm_config *config, const struct pm_pins *pins, struct pm_err *err);

/* *ret: the journal has an open goal, of this boot. Errors of pm_kernel_boot_id(). */
int pm_state_goal_is_open(const struct pm_config *config, const struct pm_journal *journal,
	bool *ret, struct pm_err *err);

/*
 * The record, if it is valid for this boot and the present numbers of the kernel, which go to
 * `ret_kernel`. -ESTALE: it is not.
 */
int pm_state_current_record(const struct pm_config *config, struct pm_record *ret,
	struct pm_kernel *ret_kernel, struct pm_err *err);
int pm_state_read_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err);
int pm_state_write_record(
	const struct pm_config *config, const struct pm_record *record, struct pm_err *err);

int pm_state_read_roster(const struct pm_config *config, struct pm_dimms *ret, struct pm_err *err);
int pm_state_write_roster(
	const struct pm_config *config, const struct pm_dimms *dimms, struct pm_err *err);

/* Removes the record: when the mode cannot be read, an old record must not stand for it. */
void pm_state_drop_record(const struct pm_config *config);

#endif
