/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROMOTE_H
#define PM_RUNTIME_PROMOTE_H

/*
 * Objects that had to go to PMem, and for which there is DRAM now. Their pages are moved, by
 * mbind(2), their addresses stay. The smallest objects first: fields before particles (paper 000,
 * §IV-A), for these are smaller and used more.
 *
 * It is done by whole chunks of 2 MiB of PMem's addresses, so that no huge page reaches across,
 * each for a chunk of DRAM's addresses that is set aside and never touched. So there are never more
 * pages in DRAM than the budget has, whatever the program does with these objects; a chunk stays in
 * DRAM to the end, for what is put there next, too. Pages that cannot be moved, for they are pinned
 * or the node has no room, stay where they are.
 */
#include <stdint.h>

/* All for which there is room; the bytes of their chunks. */
uint64_t pm_promote(void);

/* In a forked child: pages that it writes to come from PMem. */
void pm_promote_after_fork_in_child(void);

#endif
