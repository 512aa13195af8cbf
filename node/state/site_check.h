/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SITE_CHECK_H
#define PM_SITE_CHECK_H

/* Whether the site's health check may run now. */
#include <stdbool.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Takes the check's lock (node/state/check_lock.h), then looks at the node. *ret_fd as there.
 * -EBUSY: another pm-reachable runs the check. -EAGAIN: the node changes its mode or its persistent
 * memory, or has not verified its mode since the boot; the sentence says which.
 */
int pm_site_check_begin(const struct pm_config *config, int *ret_fd, struct pm_err *err);

/* True if a change began meanwhile, which has killed the program. */
bool pm_site_check_is_overtaken(const struct pm_config *config);

#endif
