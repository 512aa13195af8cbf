/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TIMESTAMP_H
#define PM_TIMESTAMP_H

/* Times of the project's files. */
#include <stdbool.h>
#include <stdint.h>

/* The present time in UTC, to the millisecond: "2026-01-31T12:34:56.789Z". */
void pm_timestamp(char ret[32]);

/* Seconds since 1970 of such a text, without its milliseconds; false: it has another form. */
bool pm_timestamp_read(const char *text, int64_t *ret);

#endif
