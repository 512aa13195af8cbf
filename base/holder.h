/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOLDER_H
#define PM_HOLDER_H

/* Finds processes that hold the flock of an open file, by proc(5). They may have inherited it. */
#include <stdbool.h>

/* True: the process `pid` holds it. */
bool pm_holder_is(int pid, int fd);

/* The command line of a process that holds it, malloc'ed, and its pid; NULL: none is found. */
char *pm_holder_find(int fd, int *ret_pid);

#endif
