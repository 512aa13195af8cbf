/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROMOTE_H
#define PM_RUNTIME_PROMOTE_H

/*
 * Promotes spilled objects: migrates their pages from PMem to DRAM by mbind(2) when DRAM has become
 * available. Addresses do not change. The smallest objects come first: in particle-in-cell codes
 * fields are smaller than particles and used more (paper 000, §IV-A).
 *
 * The unit is a chunk of 2 MiB of PMem addresses, so that no huge page crosses its ends. For each
 * promoted chunk one chunk of DRAM addresses is reserved and never touched, so that the pages in
 * DRAM never exceed the budget. A promoted chunk stays in DRAM to the end, also for later objects
 * in it. Pages that the kernel cannot move, because they are pinned or the node is full, stay in
 * PMem.
 */
#include <stdint.h>

/* Promotes as many chunks as can be reserved. Returns their bytes. To be called once. */
uint64_t pm_promote(void);

#endif
