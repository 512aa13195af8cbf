/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLEANUP_H
#define PM_CLEANUP_H

/*
 * Variables that release what they hold when they go out of scope:
 *
 *	cleanup_free char *text = NULL;
 *	cleanup_close int fd = -1;
 *	cleanup_file FILE *file = NULL;
 *	cleanup_dir DIR *dir = NULL;
 *
 * pm_steal() hands the value on and leaves the variable empty.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void pm_cleanup_free(void *variable)
{
	free(*(void **)variable);
}

static inline void pm_cleanup_close(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void pm_cleanup_file(FILE *const *file)
{
	if (*file)
		(void)fclose(*file);
}

static inline void pm_cleanup_dir(DIR *const *dir)
{
	if (*dir)
		(void)closedir(*dir);
}

#define cleanup_free	__attribute__((cleanup(pm_cleanup_free)))
#define cleanup_close	__attribute__((cleanup(pm_cleanup_close)))
#define cleanup_file	__attribute__((cleanup(pm_cleanup_file)))
#define cleanup_dir	__attribute__((cleanup(pm_cleanup_dir)))
#define cleanup_with(f) __attribute__((cleanup(f)))

#define pm_steal(pointer)                                                                          \
	({                                                                                         \
		__typeof__(pointer) pm_stolen_ = (pointer);                                        \
		(pointer) = NULL;                                                                  \
		pm_stolen_;                                                                        \
	})

#endif
