/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ATTACH_H
#define PM_ATTACH_H

/*
 * Did the runtime that was preloaded get into the ranks? A program that does not read LD_PRELOAD
 * says nothing (plan/apply/preload.h), so whoever outlives a node's ranks keeps a roll of those
 * that are still expected: a nameless file in memory, memfd_create(2), of one pid_t for each of
 * them, and one that counts those that have ended. Its size is sealed, and it is read and written
 * by descriptor alone: what the ranks put there can spoil their own report, and nothing else.
 *
 * A rank enters its own process number before execve. What is agreed with a runtime (pmrun(1)): in
 * the constructor of a process, it reads the pid_t at PM_LOCAL_RANK * sizeof(pid_t) of the
 * descriptor PM_ATTACH_FD and, where that is its own number, writes 0 there. Thus children, and
 * scripts that run in the rank's environment before it, such as Slurm's task prolog, sign for
 * nobody.
 *
 * The processes of a rank, which all have the descriptor, also share its budget by it: record
 * locks, fcntl(2), on bytes far behind its end; runtime/common/rank_registry.h has which.
 */
#include <stdbool.h>

#define PM_ATTACH_FD "PM_ATTACH_FD"

/* A roll for the ranks 0 to n-1, closed on exec: a descriptor, or a negative errno. */
int pm_attach_open(unsigned n);

/*
 * Does a runtime that attaches tell? One that does not name the variable cannot: another library
 * than a runtime of ours, from which nothing is expected.
 */
bool pm_attach_is_supported(const char *runtime);

/* This process, as `rank`, is expected; what it executes has the descriptor. 0 or -errno. */
int pm_attach_expect(int fd, unsigned rank);

/* It is not any more: it will execute nothing. */
void pm_attach_forget(int fd, unsigned rank);

/* Notes that one more rank has ended; true for the last of n. */
bool pm_attach_is_last(int fd, unsigned n);

/*
 * "0,2-3": those of the n ranks that are still expected; malloc'ed. NULL: none, or out of memory.
 * Ranks from 1024 on are left out.
 */
char *pm_attach_missing(int fd, unsigned n);

#endif
