/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ARCHIVE_H
#define PM_ARCHIVE_H

/*
 * Writes a tar.gz of files and symbolic links that are held in memory; tar(1) makes directories
 * when it unpacks them. The file appears under its name, mode 0600, when it is complete.
 */
#include <stddef.h>

#include "base/err.h"

struct pm_archive;

/* `prefix`, a directory's name, is put in front of all names. Release with pm_archive_close(). */
int pm_archive_open(
	const char *path, const char *prefix, struct pm_archive **ret, struct pm_err *err);

int pm_archive_add(struct pm_archive *archive, const char *name, const char *data, size_t length,
	struct pm_err *err);
int pm_archive_add_link(
	struct pm_archive *archive, const char *name, const char *target, struct pm_err *err);

/* Compresses the archive, syncs it to disk and renames it to its path. */
int pm_archive_commit(struct pm_archive *archive, struct pm_err *err);

/* Releases the archive; without a commit no file is left. NULL is fine. */
void pm_archive_close(struct pm_archive *archive);

#endif
