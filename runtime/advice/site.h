/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SITE_H
#define PM_RUNTIME_SITE_H

/*
 * Call sites: the three innermost frames outside of this library, each an offset into a file that
 * is known by its build ID. So a site has the same key in all ranks and in the next run, wherever
 * the files are mapped, until one of them is built anew. One frame is not enough: in AMG all bytes
 * come from two functions, with three 83 % are of sites with one kind of lifetime.
 *
 * Frames are found by the unwinder of libgcc, files by _dl_find_object() of glibc 2.35: neither
 * allocates or takes a lock. It takes about half a microsecond.
 */
#include <stdbool.h>
#include <stdint.h>

#define PM_SITE_FRAMES 3

struct pm_frame {
	uint64_t build;	  /* of the file: pm_build_of() */
	uint64_t offset;  /* of the return address, from the file's load address */
	const char *file; /* for as long as it is loaded */
};

struct pm_site {
	uint64_t key; /* 0: unknown */
	unsigned n;
	struct pm_frame frames[PM_SITE_FRAMES];
};

/* The program's own file, as a frame of it would have it. Before all others, by one thread. */
struct pm_frame pm_site_program(void);

/* Whence this library was called. */
struct pm_site pm_site_here(void);

/* A return address as a frame; false: it is in no file. */
bool pm_site_frame(const void *address, struct pm_frame *ret);

/* Of so many frames, innermost first. */
uint64_t pm_site_key(const struct pm_frame *frames, unsigned n);

#endif
