/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CPULIST_H
#define PM_CPULIST_H

/* The kernel's lists of processors: "0-3,8-11". */
#include <sched.h>
#include <stdbool.h>

#include "base/err.h"

/* The processors of a NUMA node, read below the descriptor of a root directory. -EBADMSG. */
int pm_cpulist_of_node(int root_fd, int node, cpu_set_t *ret, struct pm_err *err);

/* -EINVAL: not such a list. An empty list is an empty set. */
int pm_cpulist_parse(const char *text, cpu_set_t *ret);

/* The set as such a list, "" for an empty one; malloc'ed, NULL when out of memory. */
char *pm_cpulist_format(const cpu_set_t *set);

/* A mask as Slurm writes it: "0x0F00", hexadecimal, up to 1024 bits. Adds to *set; -EINVAL. */
int pm_cpumask_add(const char *mask, cpu_set_t *set);

/* All processors of a list of such masks, "0x3,0xC". -EINVAL: a wrong mask, or no processors. */
int pm_cpumasks_parse(const char *list, cpu_set_t *ret);

/* True: the sets have a CPU in common. */
bool pm_cpus_intersect(const cpu_set_t *a, const cpu_set_t *b);

/* True: `whole` has all CPUs of `part`. */
bool pm_cpus_contain(const cpu_set_t *whole, const cpu_set_t *part);

#endif
