/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/state_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"

static char *copy_of(const char *path)
{
	return pm_asprintf("%s.copy", path);
}

/* True if *ret has what the copy has. */
static bool read_copy(const struct pm_store *store, const char *path, void *ret)
{
	cleanup_free char *copy = copy_of(path);
	struct pm_err err;

	return copy && !access(copy, F_OK) && !pm_store_read(store, copy, ret, &err);
}

static void say(const char *path, int rc, const struct pm_err *err, bool copied)
{
	const char *what = rc == -EBADMSG ? "malformed" : "of a newer slurm-pmem";
	bool broken = rc == -EBADMSG || rc == -EPROTONOSUPPORT;
	struct pm_err aside;
	bool renamed = broken && !pm_store_set_aside(path, &aside);

	if (renamed && copied)
		fprintf(stderr,
			"'%s' is %s and was renamed to '%s.unreadable'; starting with its copy\n",
			path, what, path);
	else if (renamed)
		fprintf(stderr,
			"'%s' is %s and was renamed to '%s.unreadable'; starting with an empty "
			"list\n",
			path, what, path);
	else if (copied)
		fprintf(stderr, "%s; starting with its copy\n", err->text);
	else
		fprintf(stderr, "%s; starting with an empty list\n", err->text);
}

void pm_state_file_read(const struct pm_store *store, const char *path, void *ret)
{
	struct pm_err err = {0};
	bool missing = access(path, F_OK) && errno == ENOENT;
	int rc = missing ? 0 : pm_store_read(store, path, ret, &err);
	bool copied = (missing || (rc && rc != -EPROTONOSUPPORT)) && read_copy(store, path, ret);

	if (rc)
		say(path, rc, &err, copied);
	else if (copied)
		fprintf(stderr, "'%s' is missing; starting with its copy\n", path);
}

int pm_state_file_write(
	const struct pm_store *store, const char *path, const void *from, struct pm_err *err)
{
	cleanup_free char *copy = copy_of(path);
	int rc = pm_store_write(store, path, from, err);
	struct pm_err second = {0};
	int copy_rc = copy ? pm_store_write(store, copy, from, &second) : pm_err_nomem(&second);

	if (!rc && copy_rc)
		*err = second;
	return rc ? rc : copy_rc;
}
