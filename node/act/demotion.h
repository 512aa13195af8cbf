/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_DEMOTION_H
#define PM_AGENT_DEMOTION_H

/*
 * Flat memory needs demotion: under pressure the kernel moves the coldest pages of DRAM to
 * persistent memory. Without demotion, a program that is bound to a socket and has filled its DRAM
 * is killed although persistent memory is free: page tables must be in DRAM, and huge pages may use
 * the node's reserve down to the min watermark (Linux 6.12, alloc_pages_mpol_noprof). Demotion is
 * turned off again before flat memory is offlined, so that it does not refill that memory.
 */
#include <stdbool.h>

#include "node/operation.h"
#include "node/state/os_journal.h"

/*
 * Turns demotion on if the journal's wanted sub-state is flat, else off if pmctl had turned it on.
 * A switch that has the wanted value already is not written. Call it before the change. -ENOENT:
 * the kernel has no demotion (before 5.15).
 */
int pm_demotion_follow(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err);

/* True if demotion is on, or the kernel has none. */
bool pm_demotion_is_on(const struct pm_config *config);

#endif
