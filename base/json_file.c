/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_file.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/file.h"

#define MAX_BYTES (256 * 1024)

int pm_json_file_read(
	const char *path, const char *what, pm_json_reader *read, void *into, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = NULL;
	cleanup_free char *text = NULL;
	size_t length;
	int rc = pm_file_read(AT_FDCWD, path, MAX_BYTES, &text, &length, err);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	root = pm_json_parse(text, length);
	if (root && json_object_is_type(root, json_type_object) && read(root, into))
		return 0;
	return pm_err_set(err, -EBADMSG,
		"read '%s': truncated or not %s, it is kept as it is; look at it, then move it "
		"away",
		path, what);
}
