/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FILE_H
#define PM_FILE_H

/* Whole small files: bounded reading, atomic and durable writing. */
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Reads all of an open descriptor, or of a file (relative to the directory `dir_fd`, or AT_FDCWD).
 * *ret has a NUL behind it and is malloc'ed; `ret_length` may be NULL. -EFBIG: more than
 * `max_bytes`; `name` is only for the message.
 */
int pm_file_read_fd(int fd, const char *name, size_t max_bytes, char **ret, size_t *ret_length,
	struct pm_err *err);
int pm_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret, size_t *ret_length,
	struct pm_err *err);

/*
 * The same for own files that all users may read: a regular file, not a link, that only root or the
 * user of this process can write; the second trusts only root. -EPERM: it is another kind of file.
 */
int pm_file_read_ours(int dir_fd, const char *path, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err);
int pm_file_read_roots(
	const char *path, size_t max_bytes, char **ret, size_t *ret_length, struct pm_err *err);

/*
 * Replaces a file as a whole: temporary file in the same directory, fsync, rename, fsync of the
 * directory. A reader, or a machine that loses power, sees the old file or the new one. `mode` is
 * exact, whatever the umask. On failure the old file is as it was and no temporary file is left.
 */
int pm_file_write(
	const char *path, mode_t mode, const char *data, size_t length, struct pm_err *err);

/*
 * Removes the temporary files that killed writers have left in a directory: of the file `name`, or
 * of all of them (NULL); the second names one file by its path. Nothing may be writing there. A
 * directory that is not there has none.
 */
int pm_file_sweep(const char *dir, const char *name, struct pm_err *err);
int pm_file_sweep_of(const char *path, struct pm_err *err);

/* mkdir -p of the last component only, exact mode; an existing directory is left as it is. */
int pm_file_make_dir(const char *path, mode_t mode, struct pm_err *err);

#endif
