/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_RANK_REGISTRY_H
#define PM_RUNTIME_RANK_REGISTRY_H

/*
 * The rank registry: a memfd that the launcher of a node's ranks makes and that all processes of
 * these ranks inherit (PM_ATTACH_FD of pmrun(1); plan/apply/attach.h makes it). It has two uses.
 *
 * Attaching. The launcher stores the process number of each rank, one pid_t a rank. The runtime in
 * that process clears its entry: the launcher sees that LD_PRELOAD worked.
 *
 * Sharing the budget. All processes of a rank, such as a wrapper script, the program that it
 * starts and a shell's pipeline, have the same DRAM budget. A process claims a chunk of it by a
 * record lock, fcntl(2), on one byte of the file. Two processes therefore never have the same
 * chunk, and the kernel releases the chunks of a process that ends in any way. A chunk has the same
 * offset in the DRAM range of every process, so that chunks of other processes are holes there.
 *
 * The kernel drops all record locks of a process when the process closes any descriptor of the
 * file (fcntl(2), "Advisory record locking").
 */
#include <stdbool.h>
#include <stdint.h>

/* State of the registry in this process. */
enum pm_registry {
	PM_REGISTRY_ABSENT, /* the launcher made none: each process has a budget of its own */
	PM_REGISTRY_OPEN,
	PM_REGISTRY_LOST, /* a parent process closed it: claims of other processes are unknown */
};

/*
 * Opens the registry of PM_ATTACH_FD, and releases all chunks that this process claimed before its
 * last execve(2). To be called once, before all others.
 */
enum pm_registry pm_registry_open(void);

/* Clears this process's entry. False: the launcher does not expect this process. */
bool pm_registry_attach(void);

/*
 * Claims chunks [first, first + n) of the rank's budget. Returns how many of them, from `first` on,
 * now belong to this process; *ret_held: how many directly behind these another process holds.
 */
uint32_t pm_registry_claim_chunks(uint32_t first, uint32_t n, uint32_t *ret_held);

#endif
