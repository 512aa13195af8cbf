/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SITE_FILE_H
#define PM_SITE_FILE_H

/* A file that the site has written, such as pmem.conf. */
#include <stddef.h>

#include "base/err.h"

/*
 * Reads the whole file, like pm_file_read(). As root, refuses a file that another user could
 * change, with the errors of pm_secure_open(): the check is made on the open file.
 */
int pm_site_file_read(
	const char *path, size_t max_bytes, char **ret, size_t *ret_length, struct pm_err *err);

#endif
