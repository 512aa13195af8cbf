/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SAMPLES_H
#define PM_RUNTIME_SAMPLES_H

/*
 * Accesses by samples: each thread of the process has its events (runtime/profile/access_events.h)
 * and a ring, which is emptied a hundred times a second. New threads are found in /proc/self/task
 * ten times a second; what a thread does before that is not sampled. A sample counts for the object
 * that began last at its address.
 */
#include "model/profile_request.h"
#include "runtime/profile/profile_format.h"

#define PM_SAMPLED_THREADS 512 /* at most */

/* In the thread. Returns 0, or -errno: no such event, or the user may not use it. */
int pm_samples_open(enum pm_profile_source source, struct pm_record_source *record);
void pm_samples_run(uint64_t start_ns, struct pm_record_source *record);

#endif
