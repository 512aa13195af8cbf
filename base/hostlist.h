/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOSTLIST_H
#define PM_HOSTLIST_H

/*
 * Slurm's lists of node names: "n1,n[3-5,07-12],rack[0-3]n[1-2]". A range's numbers are as wide as
 * its first one: [07-12] has 07 and not 7.
 */
#include <stdbool.h>

#include "base/err.h"

/* Is `name` in the list? -EINVAL: the list cannot be read, whatever the name. */
int pm_hostlist_contains(const char *list, const char *name, bool *ret, struct pm_err *err);

#endif
