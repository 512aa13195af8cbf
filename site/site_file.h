/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SITE_FILE_H
#define PM_SITE_FILE_H

/* A file that the site has written, such as pmem.conf. */
#include <stddef.h>

#include "base/err.h"

/*
 * Reads all of it, as pm_file_read() does. Root reads it only if nobody else can change it: errors
 * of pm_secure_open(), which checks the file that is then read.
 */
int pm_site_file_read(
	const char *path, size_t max_bytes, char **ret, size_t *ret_length, struct pm_err *err);

#endif
