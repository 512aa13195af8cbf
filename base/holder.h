/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOLDER_H
#define PM_HOLDER_H

/* Which processes hold the flock of an open file, by proc(5): one may have inherited it. */
#include <stdbool.h>

/* Does this process hold it? */
bool pm_holder_is(int pid, int fd);

/* The command line of a process that does, malloc'ed, and its pid; NULL when none is seen. */
char *pm_holder_find(int fd, int *ret_pid);

#endif
