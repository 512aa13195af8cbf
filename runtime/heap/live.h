/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LIVE_H
#define PM_RUNTIME_LIVE_H

/* Bytes of large objects that are there now, and the most there were since somebody asked. */
#include <stdint.h>

/* So many more, or less. */
void pm_live_count(int64_t bytes);

int64_t pm_live_now(void);

/* The most begins anew, with what is there now. */
void pm_live_restart(void);
int64_t pm_live_most(void);

#endif
