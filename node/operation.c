/* SPDX-License-Identifier: Apache-2.0 */
#include "node/operation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/asprintf.h"
#include "base/cleanup.h"

__attribute__((format(printf, 3, 0))) static void report(
	const struct pm_operation *op, enum pm_tone tone, const char *fmt, va_list args)
{
	cleanup_free char *text = pm_vasprintf(fmt, args);

	if (text && op->report)
		op->report(op, tone, text);
}

void pm_report(const struct pm_operation *op, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(op, PM_TONE_FACT, fmt, args);
	va_end(args);
}

void pm_warn(const struct pm_operation *op, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(op, PM_TONE_WARNING, fmt, args);
	va_end(args);
}
