/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOLDER_H
#define PM_HOLDER_H

/* Finds processes that hold the flock of an open file, by proc(5). They may have inherited it. */
#include <stdbool.h>

/* True: the process `pid` holds it. */
bool pm_holder_is(int pid, int fd);

/*
 * Calls `each` for every process that holds it, until one call returns false. The caller may be one
 * of them.
 */
void pm_holder_each(int fd, bool (*each)(void *context, int pid), void *context);

/*
 * The command line, malloc'ed, and the pid of a program that holds it, or for which a keeper
 * (base/spawn.h) holds it; NULL: none is found.
 */
char *pm_holder_find(int fd, int *ret_pid);

#endif
