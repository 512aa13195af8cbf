/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_WIPE_H
#define PM_AGENT_WIPE_H

/* Makes what was on persistent memory unreadable, by the method that Wipe= names. */
#include <stddef.h>

#include "node/operation.h"

struct pm_wipe_target {
	char path[64]; /* "/dev/dax0.0", "/dev/pmem1"; not mounted, not in use */
	int numa_node; /* of its region; -1 unknown */
	bool doomed;   /* its namespace is destroyed next: it may come back raw, or not at all */
};

/*
 * All devices at once, a thread and more each, near to their memory. When it succeeds every byte
 * has been seen to be zero, or the modules have new keys (Wipe=crypto-erase, all targets doomed).
 * How far it is, and how fast it was, goes to the log.
 */
int pm_wipe_devices(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	struct pm_err *err);

#endif
