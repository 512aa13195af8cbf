/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COUNTERS_H
#define PM_COUNTERS_H

/*
 * Counts of events on this node since it was installed, for `pmctl metrics`: changes of the mode by
 * their outcome, and wipes of devices. One file in StateDir. The counts serve reports alone: a file
 * that cannot be written fails no operation, and one that is malformed begins again at 0.
 */
#include <stdint.h>

#include "base/store.h"
#include "node/state/journal.h"
#include "site/config.h"

struct pm_counters {
	uint64_t done, failed, undone; /* changes, by the state in which their journal ended */
	uint64_t wipes, failed_wipes;  /* of devices, one for each device */
	uint64_t wiped_bytes;	       /* seen to be zero; a crypto-erase has none */
	uint64_t wipe_ms;
};

/* The file, a struct pm_counters; a missing one is all zero. Nothing to release. */
extern const struct pm_store pm_counters_store;

/* Errors of pm_store_read(). */
int pm_counters_read(const struct pm_config *config, struct pm_counters *ret, struct pm_err *err);

/* Counts a change that has entered `state`, unless it is still open. The lock of StateDir is held.
 */
void pm_counters_add_change(const struct pm_config *config, enum pm_journal_state state);

/* Adds these numbers of wipes. The lock of StateDir is held. */
void pm_counters_add_wipes(const struct pm_config *config, const struct pm_counters *more);

#endif
