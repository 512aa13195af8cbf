/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ROSTER_H
#define PM_ROSTER_H

/*
 * The roster: the modules that the node is known to have, in a file that survives reboots. ipmctl
 * does not list a missing module, so nothing else shows that it is missing.
 */
#include <stdbool.h>

#include "base/store.h"
#include "node/tools/ipmctl.h"

/* The file, a struct pm_dimms; a missing one is an empty roster. Release with pm_dimms_done(). */
extern const struct pm_store pm_roster_store;

/* The first module of the roster that is missing; NULL: none is. */
const struct pm_dimm *pm_roster_missing(
	const struct pm_dimms *roster, const struct pm_dimms *dimms);

size_t pm_roster_count_missing(const struct pm_dimms *roster, const struct pm_dimms *dimms);

/* True if these are the modules of the roster, each with its socket and size, and no other. */
bool pm_roster_equals(const struct pm_dimms *roster, const struct pm_dimms *dimms);

#endif
