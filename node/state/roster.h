/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ROSTER_H
#define PM_ROSTER_H

/*
 * The modules that the node is known to have, in a file that outlives reboots. ipmctl does not show
 * a module that has gone, so nothing else says that it was there.
 */
#include <stdbool.h>

#include "node/tools/ipmctl.h"

/* A missing file is an empty roster. -EBADMSG: cannot be understood. */
int pm_roster_read(const char *path, struct pm_dimms *ret, struct pm_err *err);

/* Replaces the file by the modules that are there now, mode 0644. */
int pm_roster_write(const char *path, const struct pm_dimms *dimms, struct pm_err *err);

/* The first module of the roster that is not there any more; NULL: none. */
const struct pm_dimm *pm_roster_missing(
	const struct pm_dimms *roster, const struct pm_dimms *dimms);

/* Are these the modules of the roster, each with its socket and size, and no other? */
bool pm_roster_equals(const struct pm_dimms *roster, const struct pm_dimms *dimms);

#endif
