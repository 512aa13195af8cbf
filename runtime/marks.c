/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/marks.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/heap.h"
#include "runtime/lifetime.h"
#include "runtime/profile.h"

#define ARGUMENTS_BYTES                                                                            \
	64 /* of those that are passed on to the next MPI_Pcontrol(), on the stack */

static atomic_uint_least32_t iteration;

/* A call of Fortran's, counted already, is on its way to MPI, which may make one of C's of it. */
static __thread bool is_passed_on __attribute__((tls_model("initial-exec")));

uint32_t pm_marks_iteration(void)
{
	return atomic_load_explicit(&iteration, memory_order_relaxed);
}

static void next_iteration(void)
{
	uint32_t number = atomic_fetch_add_explicit(&iteration, 1, memory_order_relaxed) + 1;

	if (number == 1 && pm_heap.small_limit)
		pm_lifetime_begin();
	pm_profile_iteration(number);
}

/* MPI's own, or that of a profiler behind us; NULL: there is none. */
static void find_next(const char *name, void *ret_function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(ret_function, &found, sizeof(found));
}

#pragma GCC visibility push(default)

void pmplace_iteration(void)
{
	next_iteration();
}

void pmplace_phase(const char *name)
{
	pm_profile_phase(name);
}

/* Profilers know one argument more, a region's name (IPM); where there is none it is a register. */
int MPI_Pcontrol(const int level, ...)
{
	int (*function)(const int level, ...);
	const char *name;
	va_list args;

	va_start(args, level);
	name = va_arg(args, const char *);
	va_end(args);
	if (level > 0 && !is_passed_on)
		next_iteration();
	find_next("MPI_Pcontrol", &function);
	return function ? function(level, name) : 0;
}

void mpi_pcontrol_(const int *level)
{
	void (*function)(const int *level);

	find_next("mpi_pcontrol_", &function);
	if (*level > 0)
		next_iteration();
	is_passed_on = true;
	if (function)
		function(level);
	is_passed_on = false;
}

#pragma GCC visibility pop
