/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/start/marks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/live_bytes.h"
#include "runtime/lifetime/infer.h"
#include "runtime/lifetime/iteration.h"
#include "runtime/lifetime/lifetime.h"
#include "runtime/lifetime/sizing.h"
#include "runtime/profile/profile.h"

#define MEASURED	  1 /* iterations; paper 000, §IV-A */
#define MEASURED_INFERRED 4 /* which may be parts of one */

atomic_bool pm_marks_infers;

/* A call of Fortran's, counted already, is on its way to MPI, which may make one of C's of it. */
static __thread bool is_passed_on __attribute__((tls_model("initial-exec")));

void pm_marks_start(void)
{
	atomic_store_explicit(&pm_marks_infers, true, memory_order_relaxed);
}

static uint32_t count(uint32_t measured)
{
	uint32_t number = pm_iteration_advance();

	if (number == 1)
		pm_lifetime_begin();
	pm_sizing_iteration(number, measured);
	return number;
}

void pm_marks_asked(const void *caller, size_t bytes)
{
	enum pm_inference found = pm_infer_iteration(caller, bytes, pm_live_bytes());
	int saved = errno;

	if (found == PM_INFERENCE_NONE)
		return;
	if (found == PM_INFERENCE_RESTART)
		pm_iteration_restart(PM_ITERATIONS_INFERRED);
	(void)count(MEASURED_INFERRED);
	errno = saved;
}

static void next_iteration(void)
{
	if (!pm_heap.small_limit)
		return;
	pm_iteration_restart(PM_ITERATIONS_MARKED);
	atomic_store_explicit(&pm_marks_infers, false, memory_order_relaxed);
	pm_profile_iteration(count(MEASURED));
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
