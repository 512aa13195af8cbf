/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SITE_H
#define PM_RUNTIME_SITE_H

/*
 * Call sites: the innermost stack frames outside of this library. A frame is an offset into a file
 * that is named by its build ID. A site hence has the same key in all ranks and in later runs, at
 * any load address, until one of its files is built anew. One frame does not suffice: in AMG two
 * functions allocate all bytes; with three frames, 83 % of the bytes come from sites with one kind
 * of lifetime. Programs that allocate by wrappers of wrappers need more: profiles have up to
 * PM_SITE_FRAMES for each large object.
 *
 * Frames come from libgcc's unwinder, files from _dl_find_object() (glibc 2.35). Neither allocates
 * or takes a lock. A capture of three frames takes about half a microsecond.
 */
#include <stdbool.h>
#include <stdint.h>

#define PM_SITE_FRAMES 8 /* at most */
#define PM_SITE_LEAST  3 /* a key is of fewer only where the stack has fewer */

struct pm_frame {
	uint64_t build;	  /* of the file, as in runtime/profile/profile_format.h */
	uint64_t offset;  /* of the return address, from the file's load address */
	const char *file; /* owned by the loader; valid while the file is loaded */
};

struct pm_site {
	uint64_t key; /* 0: unknown */
	unsigned n;
	struct pm_frame frames[PM_SITE_FRAMES];
};

/* The program's own file as a frame. To be called first, by one thread. */
struct pm_frame pm_site_program(void);

/* The call site from which the calling thread entered this library, with n frames at most. */
struct pm_site pm_site_capture(unsigned n);

/*
 * The call site's shortest key of at least PM_SITE_LEAST frames that is_known() knows; without one,
 * the key of all frames. 0: no frame is known.
 */
uint64_t pm_site_find(bool (*is_known)(uint64_t key));

/* Resolves a return address to a frame. False: it is in no file. */
bool pm_site_resolve(const void *address, struct pm_frame *ret);

/* Key of n frames, innermost first: FNV-1a of their builds and offsets. */
uint64_t pm_site_key(const struct pm_frame *frames, unsigned n);

#endif
