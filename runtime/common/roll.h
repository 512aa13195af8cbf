/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ROLL_H
#define PM_RUNTIME_ROLL_H

/*
 * The file that whoever starts the ranks keeps for them, PM_ATTACH_FD of pmrun(1). All processes of
 * a rank have it: the rank's own, and what that forks and executes. It serves two ends.
 *
 * Attaching: the rank's process strikes its number out.
 *
 * Sharing the rank's budget: a wrapper script, the program it starts, and a shell's pipelines are
 * told of the same budget. Which process has which chunk of it is kept as record locks, fcntl(2), a
 * byte a chunk: two processes never have the same one, and the kernel gives back those of one that
 * ends, however it does. The same chunk is at the same place of each process's own DRAM range, so
 * that the chunks that others have are holes there.
 *
 * As all record locks of a process, they are lost when it closes any descriptor of the file.
 */
#include <stdbool.h>
#include <stdint.h>

/* What there is of it. */
enum pm_roll {
	PM_ROLL_NONE, /* nobody keeps one: the budget is for each process */
	PM_ROLL_OURS, /* there is one */
	PM_ROLL_LOST, /* it was closed on the way here: what others have cannot be known */
};

/* Finds it, and gives up what this process had claimed before it executed this program. */
enum pm_roll pm_roll_open(void);

/* Strikes this process out; false: it is none that somebody expects. */
bool pm_roll_attach(void);

/*
 * Claims chunks [first, first + n) of the rank's budget. Returns how many are ours, from the first
 * on; *ret_gone: how many behind these another process has.
 */
uint32_t pm_roll_claim(uint32_t first, uint32_t n, uint32_t *ret_gone);

#endif
