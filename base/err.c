/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/confinement.h"

static const char cut_mark[] = "...";

/* Stores a text behind the first `used` bytes. */
static void store_at(struct pm_err *err, size_t used, const char *fmt, va_list args)
{
	size_t room = sizeof(err->text) - used;

	if (vsnprintf(err->text + used, room, fmt, args) >= (int)room)
		memcpy(err->text + sizeof(err->text) - sizeof(cut_mark), cut_mark,
			sizeof(cut_mark));
}

__attribute__((format(printf, 2, 3))) static void add_text(struct pm_err *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	store_at(err, strlen(err->text), fmt, args);
	va_end(args);
}

/* A profile that refuses something leaves no other trace here than the errno. */
static void add_confinement(struct pm_err *err, int code)
{
	char profile[256];

	if ((code == -EACCES || code == -EPERM) && pm_confinement_own(profile, sizeof(profile)))
		add_text(err, ": AppArmor's profile '%s' confines this program", profile);
}

int pm_err_set(struct pm_err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	store_at(err, 0, fmt, args);
	va_end(args);
	err->code = code;
	return code;
}

int pm_err_sys(struct pm_err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	store_at(err, 0, fmt, args);
	va_end(args);
	add_text(err, ": %s", strerror(-code));
	add_confinement(err, code);
	err->code = code;
	return code;
}

int pm_err_prefix(struct pm_err *err, const char *fmt, ...)
{
	char old[PM_ERR_TEXT_MAX];
	va_list args;

	if (!err)
		return -EINVAL;
	memcpy(old, err->text, sizeof(old));
	va_start(args, fmt);
	store_at(err, 0, fmt, args);
	va_end(args);
	add_text(err, ": %s", old);
	return err->code;
}

int pm_err_nomem(struct pm_err *err)
{
	return pm_err_set(err, -ENOMEM, "out of memory");
}
