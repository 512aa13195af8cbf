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
#include "runtime/profile/accesses.h"
#include "runtime/profile/profile.h"
#include "runtime/stream/promotion.h"

#define MEASURED	  1 /* iterations that are measured; paper 000, §IV-A */
#define MEASURED_INFERRED 4 /* an inferred iteration may be only a part of a real one */

atomic_bool pm_marks_inferring;

/* MPI's mpi_pcontrol_() may call MPI_Pcontrol(): that call is not a second mark. */
static __thread bool in_fortran_call __attribute__((tls_model("initial-exec")));

void pm_marks_start(void)
{
	atomic_store_explicit(&pm_marks_inferring, true, memory_order_relaxed);
}

static uint32_t begin_iteration(uint32_t measured)
{
	uint32_t number = pm_iteration_advance();

	pm_accesses_iteration(number);
	if (number == 1)
		pm_lifetime_begin();
	pm_sizing_iteration(number, measured);
	return number;
}

void pm_marks_large_alloc(const void *caller, size_t bytes)
{
	enum pm_inference found = pm_infer_iteration(caller, bytes, pm_live_bytes());
	int saved = errno;

	if (found == PM_INFERENCE_NONE)
		return;
	if (found == PM_INFERENCE_RESTART)
		pm_iteration_restart(PM_ITERATIONS_INFERRED);
	(void)begin_iteration(MEASURED_INFERRED);
	errno = saved;
}

static void mark_iteration(void)
{
	if (!pm_heap.small_limit)
		return;
	pm_iteration_restart(PM_ITERATIONS_MARKED);
	atomic_store_explicit(&pm_marks_inferring, false, memory_order_relaxed);
	pm_profile_iteration(begin_iteration(MEASURED));
	pm_promotion_iteration();
}

/* The next definition: MPI's own, or a profiler's behind this library. NULL: none. */
static void lookup_next(const char *name, void *ret_function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(ret_function, &found, sizeof(found));
}

#pragma GCC visibility push(default)

void pmplace_iteration(void)
{
	mark_iteration();
}

void pmplace_phase(const char *name)
{
	pm_profile_phase(name);
}

/*
 * Passes one optional argument on, a region's name (IPM). If the caller gave none, va_arg() reads
 * some register, which the next function does not look at.
 */
int MPI_Pcontrol(const int level, ...)
{
	int (*function)(const int level, ...);
	const char *name;
	va_list args;

	va_start(args, level);
	name = va_arg(args, const char *);
	va_end(args);
	if (level > 0 && !in_fortran_call)
		mark_iteration();
	lookup_next("MPI_Pcontrol", &function);
	return function ? function(level, name) : 0;
}

void mpi_pcontrol_(const int *level)
{
	void (*function)(const int *level);

	lookup_next("mpi_pcontrol_", &function);
	if (*level > 0)
		mark_iteration();
	in_fortran_call = true;
	if (function)
		function(level);
	in_fortran_call = false;
}

#pragma GCC visibility pop
