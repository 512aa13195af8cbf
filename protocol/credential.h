/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CREDENTIAL_H
#define PM_CREDENTIAL_H

/* Texts that munge vouches for: who made one, and that it is read once. Needs libmunge. */
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* `reader`: the only one who can open it; (uid_t)-1 for all. */
#define PM_ANYBODY ((uid_t)-1)

/* `socket` NULL: munge's own default. *ret is a line of text, malloc'ed. -EACCES: munge refuses. */
int pm_credential_make(
	const char *socket, uid_t reader, const char *text, char **ret, struct pm_err *err);

/*
 * *ret is the text, malloc'ed, *ret_uid who made it. -EACCES: forged, expired, for somebody else,
 * or opened before on this machine (munge remembers until they expire).
 */
int pm_credential_open(
	const char *socket, const char *credential, char **ret, uid_t *ret_uid, struct pm_err *err);

#endif
