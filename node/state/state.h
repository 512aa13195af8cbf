/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_STATE_H
#define PM_AGENT_STATE_H

/* What pmctl keeps: the journals, the pins and the lock in StateDir, this boot's record in RunDir.
 */
#include "node/operation.h"
#include "node/state/journal.h"
#include "node/state/os_journal.h"
#include "node/state/pins.h"
#include "node/state/record.h"
#include "node/state/roster.h"

/*
 * Makes both directories if need be, checks that only root can change them, and takes the lock.
 * Says who holds it when it has to wait, and waits 10 s at most. Close *ret_fd to release it.
 */
int pm_state_lock(const struct pm_operation *op, int *ret_fd, struct pm_err *err);

/* The same with another time to wait: the end of one job may keep the begin of another waiting. */
int pm_state_lock_within(
	const struct pm_operation *op, unsigned wait_s, int *ret_fd, struct pm_err *err);

int pm_state_read_journal(
	const struct pm_config *config, struct pm_journal *ret, struct pm_err *err);

/* Enters a state and writes the journal. */
int pm_state_step(const struct pm_operation *op, struct pm_journal *journal,
	enum pm_journal_state state, const char *boot_id, const char *text, struct pm_err *err);

int pm_state_write_journal(
	const struct pm_config *config, const struct pm_journal *journal, struct pm_err *err);

int pm_state_read_os_journal(
	const struct pm_config *config, struct pm_os_journal *ret, struct pm_err *err);
int pm_state_write_os_journal(
	const struct pm_config *config, const struct pm_os_journal *journal, struct pm_err *err);

int pm_state_read_pins(const struct pm_config *config, struct pm_pins *ret, struct pm_err *err);
int pm_state_write_pins(
	const struct pm_config *config, const struct pm_pins *pins, struct pm_err *err);

/* The record, where it holds for this boot and what the kernel shows now, which goes to
 * `ret_kernel`. */
int pm_state_current_record(const struct pm_config *config, struct pm_record *ret,
	struct pm_kernel *ret_kernel, struct pm_err *err);
int pm_state_read_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err);
int pm_state_write_record(
	const struct pm_config *config, const struct pm_record *record, struct pm_err *err);

/* The modules that the node is known to have, in StateDir. */
int pm_state_read_roster(const struct pm_config *config, struct pm_dimms *ret, struct pm_err *err);
int pm_state_write_roster(
	const struct pm_config *config, const struct pm_dimms *dimms, struct pm_err *err);

/* When the node's mode cannot be read, an old record must not answer for it. */
void pm_state_drop_record(const struct pm_config *config);

#endif
