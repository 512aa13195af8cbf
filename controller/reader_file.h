/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_READER_FILE_H
#define PM_READER_FILE_H

/* Files that pm-controller writes for pmem.lua, which slurmctld runs as SlurmUser. */
#include <sys/types.h>

#include "base/err.h"

/*
 * Replaces the file. `only_reader` is the one user who may read it besides the service, by an ACL,
 * as the service may not change a file's owner; NULL: every user may.
 */
int pm_reader_file_write(
	const char *path, const char *text, const uid_t *only_reader, struct pm_err *err);

#endif
