/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ATTACH_H
#define PM_ATTACH_H

/*
 * The launcher's side of the rank registry, by which it learns whether the preloaded runtime has
 * attached to each rank. A program that does not read LD_PRELOAD reports nothing
 * (plan/apply/preload.h).
 *
 * The registry is a memfd_create(2) file of n + 1 pid_t, with a sealed size: one for each rank,
 * then the number of ranks that have ended. The launcher never maps it, but uses pread(2) and
 * pwrite(2): a rank that misuses its descriptor can only falsify entries.
 *
 * Protocol, part of pmrun(1). Before execve(2), a rank's process stores its process number. The
 * runtime's constructor reads the pid_t at PM_LOCAL_RANK * sizeof(pid_t) of the descriptor
 * PM_ATTACH_FD, and writes 0 there if it is its own number. Hence children, and scripts that run in
 * the rank's environment before it, such as Slurm's task prolog, do not attach for the rank.
 *
 * The processes of a rank also share its budget by record locks far beyond the end of the file:
 * runtime/common/rank_registry.h.
 */
#include <stdbool.h>

#define PM_ATTACH_FD "PM_ATTACH_FD"

/* Makes the registry of ranks 0 to n-1. A descriptor with FD_CLOEXEC, or a negative errno. */
int pm_attach_open(unsigned n);

/*
 * True: the file of a runtime contains the name of the variable PM_ATTACH_FD, so that it attaches.
 * False: it is some other library, which is not expected to attach.
 */
bool pm_attach_is_supported(const char *runtime);

/*
 * Stores this process as that of `rank`, and clears FD_CLOEXEC so that the program inherits the
 * descriptor. 0 or -errno.
 */
int pm_attach_expect(int fd, unsigned rank);

/* Clears the entry again: no program will be executed. */
void pm_attach_forget(int fd, unsigned rank);

/* Counts a rank that has ended. True for the last of n. Not atomic: one process counts. */
bool pm_attach_is_last(int fd, unsigned n);

/*
 * List of the ranks that have not attached, "0,2-3"; malloc'ed. NULL: none, or out of memory. Ranks
 * from 1024 on are left out.
 */
char *pm_attach_missing(int fd, unsigned n);

#endif
