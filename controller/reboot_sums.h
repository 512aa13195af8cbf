/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REBOOT_SUMS_H
#define PM_REBOOT_SUMS_H

/* The reply to 'pmctl cluster --by': the reboots that are kept, by whom they were for. */
#include "base/json.h"
#include "controller/reboots.h"
#include "protocol/message.h"

/*
 * An array with an object for each user, account or partition with reboots that began at `since_s`
 * or later, in the order of their names, from the first one behind `after` (NULL: all), as many as
 * a reply holds; the rest begins behind the last:
 *
 *	name      a uid, an account, a partition; missing in the last row: no job waited for the
 *		  node, or its job is not known
 *	reboots, failed, seconds: seconds of a node that is not back yet count until now
 *
 * `only`: reboots for jobs of this uid alone; NULL: all. NULL when out of memory.
 */
json_object *pm_reboot_sums(const struct pm_reboots *reboots, const struct pm_message *request,
	const uid_t *only, uint64_t now_s);

#endif
