/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CALIBRATE_H
#define PM_CALIBRATE_H

/*
 * Measures a node for its site profile: on each socket copies, loops and latencies, and STREAM on
 * all sockets at once.
 */
#include "measure/points.h"

/* How the caller follows a calibration. */
struct pm_calibrate_watch {
	void *context;
	/* Before each point, as pm_point_text() has it; `done` of `total` are in the profile,
	 * `known` of them from before. */
	void (*begin)(void *context, const char *point, size_t done, size_t known, size_t total);
	/* After each point. A negative errno ends the calibration. */
	int (*keep)(void *context, const struct pm_site_profile *profile, struct pm_err *err);
};

/*
 * Adds to *profile what it does not have yet, so that a calibration can be continued. Memory is
 * left as it was, also if the process is killed. Errors of pm_area_make(), pm_threads_run() and
 * `keep`; *profile then has the points so far.
 */
int pm_calibrate(const struct pm_calibrate_socket *sockets, unsigned n_sockets,
	const struct pm_effort *effort, const struct pm_calibrate_watch *watch,
	struct pm_site_profile *profile, struct pm_err *err);

#endif
