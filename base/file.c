/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* Suffix of a temporary file, unlike any name that a person gives to a copy. */
#define TEMPORARY ".new.XXXXXX"

static int read_some(int fd, char *data, size_t size, size_t *used)
{
	ssize_t got = read(fd, data + *used, size - *used);

	if (got < 0)
		return errno == EINTR ? 1 : -errno;
	*used += (size_t)got;
	return got > 0;
}

/* Reads up to one byte more than the bound, to tell a file of that size from a longer one. */
int pm_file_read_fd(int fd, const char *name, size_t max_bytes, char **ret, size_t *ret_length,
	struct pm_err *err)
{
	cleanup_free char *data = NULL;
	size_t used = 0, size = 0;
	int more;

	do {
		if (used == size) {
			char *grown;

			size = size ? 2 * size : 4096;
			if (size > max_bytes + 1)
				size = max_bytes + 1;
			grown = realloc(data, size + 1);
			if (!grown)
				return pm_err_nomem(err);
			data = grown;
		}
		more = read_some(fd, data, size, &used);
		if (more < 0)
			return pm_err_sys(err, more, "read '%s'", name);
	} while (more && used <= max_bytes);
	if (used > max_bytes)
		return pm_err_set(err, -EFBIG, "read '%s': longer than %zu bytes", name, max_bytes);
	data[used] = '\0';
	if (ret_length)
		*ret_length = used;
	*ret = pm_steal(data);
	return 0;
}

int pm_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret, size_t *ret_length,
	struct pm_err *err)
{
	cleanup_close int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", path);
	return pm_file_read_fd(fd, path, max_bytes, ret, ret_length, err);
}

static int check_owner(int fd, const char *name, uid_t user, struct pm_err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return pm_err_sys(err, -errno, "open '%s'", name);
	if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != user) ||
		(st.st_mode & (S_IWGRP | S_IWOTH)))
		return pm_err_set(err, -EPERM,
			"read '%s': it must be a regular file of root that group and others cannot "
			"write",
			name);
	return 0;
}

static int read_of(int dir_fd, const char *path, uid_t user, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err)
{
	cleanup_close int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", path);
	rc = check_owner(fd, path, user, err);
	return rc ? rc : pm_file_read_fd(fd, path, max_bytes, ret, ret_length, err);
}

int pm_file_read_ours(int dir_fd, const char *path, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err)
{
	return read_of(dir_fd, path, geteuid(), max_bytes, ret, ret_length, err);
}

int pm_file_read_roots(
	const char *path, size_t max_bytes, char **ret, size_t *ret_length, struct pm_err *err)
{
	return read_of(AT_FDCWD, path, 0, max_bytes, ret, ret_length, err);
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t put = write(fd, data, length);

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			data += put;
			length -= (size_t)put;
		}
	}
	return 0;
}

static int sync_directory_of(const char *path)
{
	char copy[PATH_MAX];
	cleanup_close int fd = -1;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		return -errno;
	return 0;
}

static int fill(int fd, mode_t mode, const char *data, size_t length)
{
	int rc = write_all(fd, data, length);

	if (!rc && (fchmod(fd, mode) || fsync(fd)))
		rc = -errno;
	return rc;
}

int pm_file_write(
	const char *path, mode_t mode, const char *data, size_t length, struct pm_err *err)
{
	char temporary[PATH_MAX];
	cleanup_close int fd = -1;
	int rc;

	if (snprintf(temporary, sizeof(temporary), "%s" TEMPORARY, path) >= (int)sizeof(temporary))
		return pm_err_sys(err, -ENAMETOOLONG, "write '%.100s'", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return pm_err_sys(err, -errno, "write '%s'", path);
	rc = fill(fd, mode, data, length);
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc) {
		(void)unlink(temporary);
		return pm_err_sys(err, rc, "write '%s'", path);
	}
	rc = sync_directory_of(path);
	return rc ? pm_err_sys(err, rc, "sync the directory of '%s'", path) : 0;
}

#define LETTER "[0-9A-Za-z]"

/* Is `entry` "NAME.new.a1B2c3", where NAME may be NULL for any? */
static bool is_temporary(const char *entry, const char *name)
{
	static const char any[] = "?*.new." LETTER LETTER LETTER LETTER LETTER LETTER;

	return !fnmatch(any, entry, 0) &&
	       (!name || (strlen(entry) == strlen(name) + strlen(TEMPORARY) &&
				 !strncmp(entry, name, strlen(name))));
}

int pm_file_sweep(const char *path, const char *name, struct pm_err *err)
{
	cleanup_dir DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : pm_err_sys(err, -errno, "open '%s'", path);
	while ((errno = 0, entry = readdir(dir)))
		if (is_temporary(entry->d_name, name) && unlinkat(dirfd(dir), entry->d_name, 0))
			return pm_err_sys(err, -errno, "remove '%s/%s'", path, entry->d_name);
	return errno ? pm_err_sys(err, -errno, "read '%s'", path) : 0;
}

int pm_file_sweep_of(const char *path, struct pm_err *err)
{
	char parent[PATH_MAX], name[PATH_MAX];

	if (strlen(path) >= sizeof(parent))
		return pm_err_sys(err, -ENAMETOOLONG, "write '%.100s'", path);
	snprintf(parent, sizeof(parent), "%s", path);
	snprintf(name, sizeof(name), "%s", path);
	return pm_file_sweep(dirname(parent), basename(name), err);
}

int pm_file_make_dir(const char *path, mode_t mode, struct pm_err *err)
{
	if (mkdir(path, mode)) {
		if (errno == EEXIST)
			return 0;
		return pm_err_sys(err, -errno, "make directory '%s'", path);
	}
	if (chmod(path, mode))
		return pm_err_sys(err, -errno, "set the mode of '%s'", path);
	return 0;
}
