/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_WIPE_H
#define PM_AGENT_WIPE_H

/* Wipes persistent memory by the method of Wipe= in pmem.conf. */
#include <stddef.h>

#include "node/operation.h"

struct pm_wipe_target {
	char path[64]; /* "/dev/dax0.0", "/dev/pmem1"; not mounted, not in use */
	int numa_node; /* of its region; -1 unknown */
	bool doomed;   /* its namespace is destroyed next, so it may come back raw, or not at all */
};

/*
 * Wipes all devices at once, each by one or more threads near to its memory. On success every byte
 * was seen to be zero or, with Wipe=crypto-erase and if all targets are doomed, the modules have
 * new keys. Progress and speed are reported, and the wipes are counted (node/state/counters.h): the
 * lock of StateDir is held. Errors as pm_scrub() and pm_crypto_erase().
 */
int pm_wipe_devices(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	struct pm_err *err);

#endif
