/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROFILE_H
#define PM_RUNTIME_PROFILE_H

/*
 * The heap profiler: PM_PROFILE names a directory, into which each process of a rank writes a file
 * of what it had of objects, whence, how large, from when to when, and in which space. The format
 * is runtime/profile/profile_format.h; pmreport(1) reads it.
 *
 * All large objects are noted; of those below PM_LARGE one for each PM_PROFILE_EVERY bytes or so
 * that are allocated, each object with a chance that grows with its size, and stands for that many
 * bytes. Such a sample is a block of its own, in the space that small objects are put into, so that
 * giving back the others costs nothing. What is known of an object stands in an array beside the
 * heap, an entry a granule, and goes to a buffer when the object does; the buffer to the file when
 * it is full. Nothing is allocated on the way.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_PROFILE_EVERY (INT64_C(1) << 20)

/* Looked at by every call that is not the shortest way. */
extern bool pm_profile_on;

/* After pm_heap_start(); `attached`: the rank's own process tells in any case. */
void pm_profile_start(bool attached);

/* Is the next small object of so many bytes to be a sample? */
bool pm_profile_samples(size_t bytes);

/* An object that is a block of the heap's has been taken; is about to be given back. */
void pm_profile_taken(const void *object, size_t bytes);
void pm_profile_given(const void *object);

void pm_profile_iteration(uint32_t number);
void pm_profile_phase(const char *name);

/* Around fork(2); a child is not profiled. */
void pm_profile_before_fork(void);
void pm_profile_after_fork(void);
void pm_profile_after_fork_in_child(void);

#endif
