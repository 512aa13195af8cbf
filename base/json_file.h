/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JSON_FILE_H
#define PM_JSON_FILE_H

/* Files of our own in StateDir, one JSON value each. */
#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/*
 * Has `read` take a file's content; without such a file `into` stays as it is. -EBADMSG: no JSON,
 * or refused by `read`; the file is kept, and the sentence says that it is not `what` and what to
 * do.
 */
int pm_json_file_read(
	const char *path, const char *what, pm_json_reader *read, void *into, struct pm_err *err);

#endif
