/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOOPING_H
#define PM_LOOPING_H

/* One run of threads with the same loop, each in parts of areas of its own. */
#include <stdbool.h>

#include "measure/loops.h"

enum pm_persist {
	PM_PERSIST_NEVER,
	PM_PERSIST_END,	  /* each MiB, after it is written */
	PM_PERSIST_WRITE, /* each cache line, after it is written */
};

/* Of a thread. `to` and `from` may be the same part, which its arrays then share. */
struct pm_looping_part {
	int cpu;
	char *to, *from; /* multiples of a page */
	size_t bytes;	 /* of each of the two */
	size_t done;	 /* units of the loop that earlier runs went through; the next goes on */
};

struct pm_looping {
	enum pm_measured_loop loop;
	enum pm_persist persist; /* of a loop over elements that writes one array */
	struct pm_looping_part *parts;
	unsigned n;
	double seconds; /* of the run */
};

/* *ret: bytes per second of all threads together. Errors of pm_threads_run(). */
int pm_looping_run(const struct pm_looping *run, double *ret, struct pm_err *err);

/* True: the runs so far went through all arrays of each thread. */
bool pm_looping_has_passed(const struct pm_looping *run);

/* The arrays of a part, for the loop; for tests. */
void pm_looping_divide(
	const struct pm_looping_part *part, const struct pm_loop *loop, struct pm_loop_arrays *ret);

#endif
