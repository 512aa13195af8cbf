/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/state_file.h"

#include <errno.h>
#include <stdio.h>

void pm_state_file_read(const struct pm_store *store, const char *path, void *ret)
{
	struct pm_err err;
	int rc = pm_store_read(store, path, ret, &err);

	if ((rc == -EBADMSG || rc == -EPROTONOSUPPORT) && !pm_store_set_aside(path, &err))
		fprintf(stderr,
			"'%s' is %s and was renamed to '%s.unreadable'; starting with an empty "
			"list\n",
			path, rc == -EBADMSG ? "malformed" : "of a newer slurm-pmem", path);
	else if (rc)
		fprintf(stderr, "%s; starting with an empty list\n", err.text);
}
