/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MEMORY_LIMIT_H
#define PM_MEMORY_LIMIT_H

#include <stdint.h>

#include "base/err.h"

/*
 * The most memory that this process and those in its cgroup may use: the least limit of its
 * cgroup and of those above it, by proc/self/cgroup and proc/self/mountinfo below the descriptor of
 * a root directory; memory.max of version 2, memory.limit_in_bytes of version 1. 0: there is none,
 * or no such controller. -EBADMSG, or what reading says; cgroups that are not mounted are none.
 */
int pm_memory_limit(int root_fd, uint64_t *ret_bytes, struct pm_err *err);

#endif
