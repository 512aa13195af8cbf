/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_DEMOTION_H
#define PM_AGENT_DEMOTION_H

/*
 * Flat memory needs the kernel's demotion of pages: under pressure DRAM gives its coldest pages to
 * persistent memory. Without it a program that is bound to a socket and has filled its DRAM is
 * killed, however much persistent memory is free: its page tables must be in DRAM, and its huge
 * pages take what the kernel keeps for such (Linux 6.12, alloc_pages_mpol_noprof: from their own
 * node they may go down to the min watermark). Off again before that memory goes, which nothing
 * must fill meanwhile.
 */
#include "node/operation.h"
#include "node/state/os_journal.h"

/* Before a change of the sub-state. -ENOENT: a kernel without demotion (before 5.15). */
int pm_demotion_follow(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err);

#endif
