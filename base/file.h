/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FILE_H
#define PM_FILE_H

/* Whole small files: bounded reading, atomic and durable writing. */
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Reads all of an open descriptor, or of a file (relative to the directory `dir_fd`, or AT_FDCWD).
 * *ret is malloc'ed and ends with a NUL; `ret_length` may be NULL. -EFBIG: more than
 * `max_bytes`; `name` is only for the message.
 */
int pm_file_read_fd(int fd, const char *name, size_t max_bytes, char **ret, size_t *ret_length,
	struct pm_err *err);
int pm_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret, size_t *ret_length,
	struct pm_err *err);

/*
 * The same for a regular file that belongs to root or to the user of this process, and that group
 * and others may not write; pm_file_read_roots() trusts only root's. -EPERM: it is another kind of
 * file; -ELOOP: it is a symbolic link.
 */
int pm_file_read_ours(int dir_fd, const char *path, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err);
int pm_file_read_roots(
	const char *path, size_t max_bytes, char **ret, size_t *ret_length, struct pm_err *err);

/*
 * Replaces a file as a whole: temporary file in the same directory, fsync, rename, fsync of the
 * directory. A reader sees the old file or the new one, also after a loss of power. `mode` is
 * exact, whatever the umask. On failure no temporary file is left, and the old file is as it was,
 * unless only the fsync of the directory failed: then the new file is in its place.
 */
int pm_file_write(
	const char *path, mode_t mode, const char *data, size_t length, struct pm_err *err);

/*
 * Removes temporary files that killed writers have left in a directory: those of the file `name`,
 * or all (NULL). pm_file_sweep_of() takes the path of the file instead. No other process may write
 * the file meanwhile. A missing directory is fine.
 */
int pm_file_sweep(const char *dir, const char *name, struct pm_err *err);
int pm_file_sweep_of(const char *path, struct pm_err *err);

/* Makes one directory with an exact mode, whatever the umask. An existing path stays as it is. */
int pm_file_make_dir(const char *path, mode_t mode, struct pm_err *err);

#endif
