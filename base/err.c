/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char cut_mark[] = "...";

static void mark_cut(struct pm_err *err)
{
	memcpy(err->text + sizeof(err->text) - sizeof(cut_mark), cut_mark, sizeof(cut_mark));
}

static void store(struct pm_err *err, int code, const char *fmt, va_list args)
{
	int length = vsnprintf(err->text, sizeof(err->text), fmt, args);

	err->code = code;
	if (length >= (int)sizeof(err->text))
		mark_cut(err);
}

int pm_err_set(struct pm_err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	store(err, code, fmt, args);
	va_end(args);
	return code;
}

int pm_err_sys(struct pm_err *err, int code, const char *fmt, ...)
{
	va_list args;
	size_t used;
	int length;

	if (!err)
		return code;
	va_start(args, fmt);
	store(err, code, fmt, args);
	va_end(args);
	used = strlen(err->text);
	length = snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(-code));
	if (length >= (int)(sizeof(err->text) - used))
		mark_cut(err);
	return code;
}

int pm_err_prefix(struct pm_err *err, const char *fmt, ...)
{
	char old[PM_ERR_TEXT_MAX];
	va_list args;
	size_t used;
	int length;

	if (!err)
		return -EINVAL;
	memcpy(old, err->text, sizeof(old));
	va_start(args, fmt);
	store(err, err->code, fmt, args);
	va_end(args);
	used = strlen(err->text);
	length = snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	if (length >= (int)(sizeof(err->text) - used))
		mark_cut(err);
	return err->code;
}

int pm_err_nomem(struct pm_err *err)
{
	return pm_err_set(err, -ENOMEM, "out of memory");
}
