/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/gather.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pm_gather_miss(struct pm_gather *gather, const char *fmt, ...)
{
	char line[512], *grown;
	va_list args;
	size_t length;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	length = strlen(line);
	grown = realloc(gather->missing, gather->missing_length + length + 1);
	if (!grown)
		return;
	memcpy(grown + gather->missing_length, line, length);
	grown[gather->missing_length + length] = '\n';
	gather->missing = grown;
	gather->missing_length += length + 1;
}
