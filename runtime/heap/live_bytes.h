/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LIVE_BYTES_H
#define PM_RUNTIME_LIVE_BYTES_H

/*
 * Live bytes of large objects in this process, and their peak. Any thread may call; each value is
 * exact, the two of them are not read at one instant.
 */
#include <stdint.h>

/* Adds `bytes`, negative when an object is freed. */
void pm_live_bytes_add(int64_t bytes);

int64_t pm_live_bytes(void);

/* Restarts the peak from the present value. */
void pm_live_bytes_reset_peak(void);
int64_t pm_live_bytes_peak(void);

#endif
