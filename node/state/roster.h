/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ROSTER_H
#define PM_ROSTER_H

/*
 * The modules that the node is known to have, in a file that outlives reboots. ipmctl does not show
 * a module that has gone, so nothing else says that it was there.
 */
#include <stdbool.h>

#include "node/tools/ipmctl.h"

struct pm_module {
	char id[PM_DIMM_ID_MAX];     /* "0x0011" */
	char socket[PM_DIMM_ID_MAX]; /* "0x0000" */
	uint64_t capacity_bytes;
};

struct pm_roster {
	struct pm_module *list;
	size_t n;
};

/* A missing file is an empty roster. -EBADMSG: cannot be understood. */
int pm_roster_read(const char *path, struct pm_roster *ret, struct pm_err *err);

/* Replaces the file by the modules that are there now, mode 0644. */
int pm_roster_write(const char *path, const struct pm_dimms *dimms, struct pm_err *err);

/* The first module of the roster that is not there any more; NULL: none. */
const struct pm_module *pm_roster_missing(
	const struct pm_roster *roster, const struct pm_dimms *dimms);

/* Are these the modules of the roster, each with its socket and size, and no other? */
bool pm_roster_equals(const struct pm_roster *roster, const struct pm_dimms *dimms);

void pm_roster_done(struct pm_roster *roster);

#endif
