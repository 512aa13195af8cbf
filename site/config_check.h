/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONFIG_CHECK_H
#define PM_CONFIG_CHECK_H

/* Finds all errors of a pmem.conf before it is put in place, not only the first. */
#include "site/config.h"

/* `is_error`: with it the file is refused, or jobs are; else it is a remark. */
typedef void pm_config_found(void *context, bool is_error, const char *text);

/*
 * Reads a file, owned by anybody and lying anywhere, and calls `found` for each thing: errors of
 * lines, a DefaultMode that is not among Modes, groups and unknown users in RebootUsers, a key on
 * two lines of the same scope, a place where root would not read the file. *ret has all that could
 * be read; release with pm_config_done(). Fails only if the file cannot be read at all.
 */
int pm_config_check(const char *path, const char *node, pm_config_found *found, void *context,
	struct pm_config *ret, struct pm_err *err);

#endif
