/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/asprintf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *pm_vasprintf(const char *fmt, va_list args)
{
	char *text;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

char *pm_asprintf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = pm_vasprintf(fmt, args);
	va_end(args);
	return text;
}

int pm_append(char **text, const char *separator, const char *more)
{
	char *longer = *text ? pm_asprintf("%s%s%s", *text, separator, more) : strdup(more);

	if (!longer)
		return -ENOMEM;
	free(*text);
	*text = longer;
	return 0;
}
