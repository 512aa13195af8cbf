/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROFILE_H
#define PM_RUNTIME_PROFILE_H

/*
 * The heap profiler. PM_PROFILE names a directory; each process of a rank writes a file there with
 * the call site, size, lifetime and space of its objects. The format is
 * runtime/profile/profile_format.h, its reader pmreport(1).
 *
 * All large objects are recorded. Of small ones (below PM_LARGE) about one for each
 * PM_PROFILE_SAMPLE_BYTES allocated bytes is a sample: the chance grows with the size, and a sample
 * stands for that many bytes. A sample is an extent of its own, in the space of the slabs, so that
 * freeing other small objects costs nothing more.
 *
 * The live-object table has one entry a granule beside the heap. A freed object's entry becomes a
 * record in the file's buffer. Nothing is allocated.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_PROFILE_SAMPLE_BYTES (INT64_C(1) << 20)

/* Set before threads allocate. Read by all allocations but those on the fast path. */
extern bool pm_profile_on;

/*
 * After pm_heap_start(). `attached`: this is the rank's own process, which writes a file even
 * without a single object.
 */
void pm_profile_start(bool attached);

/* True: the next small object, of that many bytes, is a sample. Counts them for this thread. */
bool pm_profile_is_sample(size_t bytes);

/* After an object that is an extent is allocated; before it is freed. */
void pm_profile_alloc(const void *object, size_t bytes);
void pm_profile_free(const void *object);

void pm_profile_iteration(uint32_t number);
void pm_profile_phase(const char *name);

/* Handlers of pthread_atfork(3). A child is not profiled. */
void pm_profile_before_fork(void);
void pm_profile_after_fork(void);
void pm_profile_after_fork_in_child(void);

#endif
