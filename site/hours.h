/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOURS_H
#define PM_HOURS_H

/*
 * The hours of a week, as RebootHours= of pmem.conf has them: "any", or a comma list of
 *
 *	Sat-Sun			whole days
 *	18:00-06:00		each day, here past midnight
 *	Mon-Fri/18:00-06:00	the days are those on which it begins
 *
 * in local time. pmem_conf.lua checks the same form.
 */
#include <stdbool.h>
#include <time.h>

#include "base/err.h"

/* -EINVAL, with a sentence that begins with the form that is expected. */
int pm_hours_check(const char *text, struct pm_err *err);

/* True if the local time is in one of the hours. The text has been checked. */
bool pm_hours_have(const char *text, const struct tm *local);

/* The first full minute after `now` that is in the hours; 0: none within nine days. */
time_t pm_hours_next(const char *text, time_t now);

#endif
