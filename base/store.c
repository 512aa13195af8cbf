/* SPDX-License-Identifier: Apache-2.0 */
#include "base/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"

static bool read_fields(
	const struct pm_store *store, const json_object *root, uint64_t version, void *into)
{
	unsigned oldest = store->oldest ? store->oldest : store->version;

	return version >= oldest &&
	       pm_fields_read(store->fields, (unsigned)version, root, into, NULL) &&
	       (!store->fits || store->fits(into));
}

static int parse(const struct pm_store *store, const char *path, const char *text, size_t length,
	void *into, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = pm_json_parse(text, length);
	uint64_t version = 0;

	if (root && json_object_is_type(root, json_type_object))
		(void)pm_json_u64(root, "version", &version);
	if (version > store->version)
		return pm_err_set(err, -EPROTONOSUPPORT,
			"read '%s': version %llu is of a newer slurm-pmem, this one reads %u; "
			"the file is kept until 'pmctl verify' by root sets it aside",
			path, (unsigned long long)version, store->version);
	if (version && read_fields(store, root, version, into))
		return 0;
	return pm_err_set(err, -EBADMSG,
		"read '%s': truncated or not %s; the file is kept: inspect it, then move it "
		"away",
		path, store->what);
}

static int read_into(
	const struct pm_store *store, int dir_fd, const char *path, void *into, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length = 0;
	int rc = (store->is_ours ? pm_file_read_ours : pm_file_read)(
		dir_fd, path, store->max_bytes, &text, &length, err);

	if (rc)
		return rc == -ENOENT && store->starts_empty ? 0 : rc;
	return parse(store, path, text, length, into, err);
}

int pm_store_read_at(
	const struct pm_store *store, int dir_fd, const char *path, void *ret, struct pm_err *err)
{
	cleanup_free void *value = calloc(1, store->size);
	int rc = value ? read_into(store, dir_fd, path, value, err) : pm_err_nomem(err);

	if (!rc)
		memcpy(ret, value, store->size);
	else if (value)
		pm_fields_done(store->fields, value);
	return rc;
}

int pm_store_read(const struct pm_store *store, const char *path, void *ret, struct pm_err *err)
{
	return pm_store_read_at(store, AT_FDCWD, path, ret, err);
}

char *pm_store_format(const struct pm_store *store, const void *from)
{
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();

	if (!root)
		return NULL;
	pm_json_add_u64(root, "version", store->version);
	pm_fields_format(store->fields, from, root);
	return pm_json_format(root);
}

int pm_store_write(
	const struct pm_store *store, const char *path, const void *from, struct pm_err *err)
{
	cleanup_free char *text = pm_store_format(store, from);
	size_t length = text ? strlen(text) : 0;
	int rc;

	if (!text)
		return pm_err_nomem(err);
	if (length > store->max_bytes)
		return pm_err_set(
			err, -EFBIG, "write '%s': longer than %zu bytes", path, store->max_bytes);
	/* Before the write, so that killed writers leave one temporary file at most. */
	rc = pm_file_sweep_of(path, err);
	return rc ? rc : pm_file_write(path, store->mode, text, length, err);
}

int pm_store_remove(const char *path, struct pm_err *err)
{
	int rc = pm_file_sweep_of(path, err);

	if (!rc && unlink(path) && errno != ENOENT)
		rc = pm_err_sys(err, -errno, "remove '%s'", path);
	return rc;
}

bool pm_store_is_newer(const struct pm_store *store, const char *path)
{
	cleanup_free void *value = calloc(1, store->size);
	int rc = value ? pm_store_read(store, path, value, NULL) : -ENOMEM;

	if (!rc)
		pm_fields_done(store->fields, value);
	return rc == -EPROTONOSUPPORT;
}

static bool exists(const char *path)
{
	return !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Renames what was set aside earlier, so that it is not replaced. */
static int make_room(const char *aside)
{
	for (unsigned i = 1;; i++) {
		cleanup_free char *earlier = pm_asprintf("%s.%u", aside, i);

		if (!earlier)
			return -ENOMEM;
		if (i < PM_STORE_ASIDE_MAX && exists(earlier))
			continue;
		return rename(aside, earlier) ? -errno : 0;
	}
}

static int move_aside(
	const char *path, int (*move)(const char *from, const char *to), struct pm_err *err)
{
	cleanup_free char *aside = pm_asprintf("%s.unreadable", path);
	int rc = 0;

	if (!aside)
		return pm_err_nomem(err);
	if (!exists(path))
		return 0;
	if (exists(aside))
		rc = make_room(aside);
	if (!rc && move(path, aside))
		rc = -errno;
	return rc ? pm_err_sys(err, rc, "set '%s' aside", path) : 0;
}

int pm_store_set_aside(const char *path, struct pm_err *err)
{
	return move_aside(path, rename, err);
}

int pm_store_keep_aside(const char *path, struct pm_err *err)
{
	return move_aside(path, link, err);
}
