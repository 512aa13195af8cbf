/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROC_STAT_H
#define PM_PROC_STAT_H

#include <sys/types.h>

/*
 * /proc/PID/stat from its third field on, malloc'ed; NULL: it cannot be read. The second field is
 * the name in parentheses, which may have any character: proc(5).
 */
char *pm_proc_stat(pid_t pid);

#endif
