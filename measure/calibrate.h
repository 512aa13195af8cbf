/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CALIBRATE_H
#define PM_CALIBRATE_H

/*
 * Measures the copy curves of a socket for its site profile: copy-in, copy-out, both at once, and
 * the peaks of the first two.
 */
#include "measure/area.h"
#include "site/site_profile.h"

struct pm_calibrate_socket {
	unsigned number; /* physical */
	const int *cpus; /* one of each core */
	unsigned n_cpus;
	struct pm_area_place dram, pmem; /* of this socket */
};

/* How long and how well. */
struct pm_calibrate_effort {
	unsigned runs_min, runs_max; /* of a point: until its estimate is narrow; at most 100 */
	double narrow;		     /* width of the median's interval, as a part of it */
	double seconds;		     /* of a run */
	size_t bytes;		     /* of each of the two areas */
};

extern const struct pm_calibrate_effort pm_calibrate_full, pm_calibrate_quick;

/* Called before each point; `done` of `total` points of this socket are measured. */
typedef void pm_calibrate_progress(
	void *context, const char *curve, unsigned threads, unsigned done, unsigned total);

/*
 * *ret is filled for pm_site_profile_done(), or untouched on failure. A point with less
 * bandwidth than one with fewer threads is left out. `from` of a point says if its interval is
 * still wide. Nothing is left behind, also if the process is killed. Errors of pm_area_make() and
 * pm_copying_run().
 */
int pm_calibrate_socket(const struct pm_calibrate_socket *socket,
	const struct pm_calibrate_effort *effort, pm_calibrate_progress *progress, void *context,
	struct pm_site_socket *ret, struct pm_err *err);

#endif
