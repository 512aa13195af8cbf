/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SINCE_H
#define PM_SINCE_H

/*
 * A time as sacct(1) takes it after -S: "2026-11-01", "2026-11-01T08:30", "2026-11-01T08:30:15" in
 * local time, or "now-7days" (seconds, minutes, hours, days, weeks; without a unit seconds).
 * Seconds since 1970; before 1970 is 0. -EINVAL: another form, or no such day.
 */
#include <stdint.h>
#include <time.h>

int pm_since_parse(const char *text, time_t now, uint64_t *ret);

#endif
