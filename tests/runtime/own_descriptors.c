/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs under the thread sanitizer, linked with --wrap=close_range. The sanitizer knows
 * descriptors by number, of one table a process. The profile's thread has a table of its own
 * (runtime/profile/accesses.c), so descriptor 3 may be two files, and the sanitizer reports a race
 * between them. Here the thread's table has no numbers that other threads use: the low ones are
 * taken, by raw system calls, which the sanitizer does not see. stderr stays open for its reports.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#define OTHERS 256 /* the program's threads have fewer files open */

int __wrap_close_range(unsigned first, unsigned last, int flags);

int __wrap_close_range(unsigned first, unsigned last, int flags)
{
	long rc = syscall(
		SYS_close_range, first > STDERR_FILENO ? first : STDERR_FILENO + 1, last, flags);

	for (long fd = 0; !rc && fd >= 0 && fd < OTHERS - 1;)
		fd = syscall(SYS_dup, STDERR_FILENO);
	return (int)rc;
}
