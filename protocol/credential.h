/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CREDENTIAL_H
#define PM_CREDENTIAL_H

/*
 * Munge credentials with a text as payload: munge authenticates the sender, and a receiver opens a
 * credential once only. Needs libmunge.
 */
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* `reader` of a credential that any user may open. */
#define PM_ANYBODY ((uid_t)-1)

/*
 * `reader` is the one user who can open it; `socket` NULL is munge's default. *ret is a line of
 * text, malloc'ed. -EACCES: munge refuses.
 */
int pm_credential_make(
	const char *socket, uid_t reader, const char *text, char **ret, struct pm_err *err);

/*
 * *ret is the text, malloc'ed, *ret_uid the user who made it. -EACCES: forged, expired, for another
 * user, or opened before on this host (munge remembers credentials until they expire); -EBADMSG:
 * the payload is not a text.
 */
int pm_credential_open(
	const char *socket, const char *credential, char **ret, uid_t *ret_uid, struct pm_err *err);

#endif
