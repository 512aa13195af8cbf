/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/operation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

__attribute__((format(printf, 1, 0))) static char *print(const char *fmt, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

static void tell(const struct pm_operation *op, enum pm_tone tone, const char *text)
{
	if (text && op->tell)
		op->tell(op, tone, text);
}

void pm_say(const struct pm_operation *op, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = print(fmt, args);
	va_end(args);
	tell(op, PM_TONE_FACT, text);
}

void pm_warn(const struct pm_operation *op, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = print(fmt, args);
	va_end(args);
	tell(op, PM_TONE_WARNING, text);
}
