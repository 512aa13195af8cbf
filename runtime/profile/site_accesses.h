/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SITE_ACCESSES_H
#define PM_RUNTIME_SITE_ACCESSES_H

/* Sums of accessed bytes by call site, for one thread. */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/profile/profile_format.h"

/* Adds one look at the site. False: no room for another site. */
bool pm_site_accesses_add(
	uint64_t site, bool is_large, uint64_t accessed_bytes, uint64_t written_bytes);

/*
 * Writes a record of each site into the profile, with the fields of a burst or a window, and begins
 * anew. Its written_bytes is UINT64_MAX if these were not measured; its count is 0 if that of the
 * site's own looks is to be written.
 */
void pm_site_accesses_write(const struct pm_record_accesses *fields);

#endif
