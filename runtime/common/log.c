/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/common/cancel.h"

void pm_log(const char *fmt, ...)
{
	const char *rank = getenv("PM_LOCAL_RANK");
	int saved = errno, cancel = pm_cancel_disable(), n;
	char line[512];
	va_list args;

	n = rank ? snprintf(line, 32, "pm: rank %.10s: ", rank) : snprintf(line, 32, "pm: ");
	va_start(args, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, args);
	va_end(args);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	(void)!write(STDERR_FILENO, line, (size_t)n);
	pm_cancel_restore(cancel);
	errno = saved;
}
