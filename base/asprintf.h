/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ASPRINTF_H
#define PM_ASPRINTF_H

#include <stdarg.h>

/*
 * asprintf(3) that returns the text: malloc'ed, NULL when out of memory. asprintf(3) itself leaves
 * its pointer undefined then, and cleanup_free would free that.
 */
__attribute__((format(printf, 1, 2))) char *pm_asprintf(const char *fmt, ...);
__attribute__((format(printf, 1, 0))) char *pm_vasprintf(const char *fmt, va_list args);

/*
 * Adds `more` to the malloc'ed *text, behind a separator; NULL is a text without any parts.
 * -ENOMEM: *text is as it was.
 */
int pm_append(char **text, const char *separator, const char *more);

#endif
