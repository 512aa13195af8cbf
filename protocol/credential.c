/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/credential.h"

#include <errno.h>
#include <munge.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Lifetime of a credential: a reply comes within seconds. */
#define LIFETIME_S 60

static void destroy(munge_ctx_t *context)
{
	munge_ctx_destroy(*context);
}

static munge_ctx_t context_for(const char *socket)
{
	munge_ctx_t context = munge_ctx_create();

	if (!context)
		return NULL;
	if (!socket || munge_ctx_set(context, MUNGE_OPT_SOCKET, socket) == EMUNGE_SUCCESS)
		return context;
	munge_ctx_destroy(context);
	return NULL;
}

static int refused(struct pm_err *err, const char *what, munge_ctx_t context, munge_err_t code)
{
	const char *words = munge_ctx_strerror(context);

	return pm_err_set(
		err, -EACCES, "munge: %s: %s", what, words ? words : munge_strerror(code));
}

int pm_credential_make(
	const char *socket, uid_t reader, const char *text, char **ret, struct pm_err *err)
{
	cleanup_with(destroy) munge_ctx_t context = context_for(socket);
	munge_err_t code;

	if (!context)
		return pm_err_nomem(err);
	(void)munge_ctx_set(context, MUNGE_OPT_TTL, LIFETIME_S);
	code = munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, reader);
	if (code == EMUNGE_SUCCESS)
		code = munge_encode(ret, context, text, (int)strlen(text));
	return code == EMUNGE_SUCCESS ? 0 : refused(err, "make a credential", context, code);
}

int pm_credential_open(
	const char *socket, const char *credential, char **ret, uid_t *ret_uid, struct pm_err *err)
{
	cleanup_with(destroy) munge_ctx_t context = context_for(socket);
	cleanup_free void *payload = NULL;
	int length = 0;
	gid_t gid;
	uid_t uid;
	munge_err_t code;

	if (!context)
		return pm_err_nomem(err);
	code = munge_decode(credential, context, &payload, &length, &uid, &gid);
	if (code != EMUNGE_SUCCESS)
		return refused(err, "open a credential", context, code);
	if (!payload || strlen(payload) != (size_t)length)
		return pm_err_set(err, -EBADMSG, "the credential's payload is not text");
	*ret = pm_steal(payload);
	*ret_uid = uid;
	return 0;
}
