/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COPYING_H
#define PM_COPYING_H

/* One run of threads that copy between two areas, each on a CPU and in a part of its own. */
#include "measure/area.h"

#define PM_COPYING_PART_MIN ((size_t)4 << 20) /* bytes of each area for a thread, at least */

struct pm_copying {
	struct pm_area dram, pmem; /* of the same size */
	const int
		*cpus; /* one for each thread: first those that copy in, then those that copy out */
	unsigned n_in, n_out;
	double seconds; /* of the run; a thread ends its present chunk */
};

/*
 * *ret_in and *ret_out: bytes per second of all threads of that direction together, 0 without such
 * threads. Threads loop (copy/copy.h): in to DRAM, out persistently. Errors of pm_threads_run().
 */
int pm_copying_run(
	const struct pm_copying *run, double *ret_in, double *ret_out, struct pm_err *err);

#endif
