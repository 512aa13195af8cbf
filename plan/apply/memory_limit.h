/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MEMORY_LIMIT_H
#define PM_MEMORY_LIMIT_H

#include <stdint.h>

#include "base/err.h"

/*
 * Memory limit of this process's cgroup: the smallest one of the cgroup and its ancestors, in
 * bytes; 0: no limit, no memory controller, or cgroups that are not mounted. From memory.max of
 * version 2 and memory.limit_in_bytes of version 1, cgroups(7). `root_fd` is a root directory:
 * paths are proc/self/cgroup and proc/self/mountinfo below it. -EBADMSG: a limit is not a number;
 * -ENAMETOOLONG; -ENOMEM; other errors of reading.
 */
int pm_memory_limit(int root_fd, uint64_t *ret_bytes, struct pm_err *err);

#endif
