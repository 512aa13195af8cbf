/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROFILE_MERGE_H
#define PM_PROFILE_MERGE_H

/* One site profile of a class from several runs: each mode of a node has measures of its own. */
#include "site/site_profile.h"

/*
 * Moves to `profile` the sockets, and of each socket and of the node the curves, values and loops,
 * that `older` has and it has not. A row is taken as a whole: points of two runs are never mixed.
 * `older` is to be released as before. -ENOMEM: some rows may have been moved.
 */
int pm_site_profile_add_missing(
	struct pm_site_profile *profile, struct pm_site_profile *older, struct pm_err *err);

#endif
