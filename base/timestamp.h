/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TIMESTAMP_H
#define PM_TIMESTAMP_H

#include <stdbool.h>

/* The present time in UTC, to the millisecond: "2026-01-31T12:34:56.789Z". */
void pm_timestamp(char ret[32]);

/* Such a text as Unix time in seconds; false: it has another form. */
bool pm_timestamp_read(const char *text, double *ret);

#endif
