/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SITE_HEALTH_H
#define PM_SITE_HEALTH_H

/*
 * The site's own health check (SiteHealthCheckProgram), which Slurm's one HealthCheckProgram,
 * pm-reachable, runs after its own report.
 */
#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Runs it with the present environment and PM_MODE, until pm_now_ms() is `end_ms` at most. Its
 * output goes to stdout if it succeeds.
 *
 * 0 also if there is none, and if it is not run or was ended because the node changes
 * (node/state/check_lock.h); stdout says so. Errors, each with its sentence: it failed, hung, is
 * missing, or users other than root can change it. Nothing of it drains the node.
 */
int pm_site_health_run(const struct pm_config *config, uint64_t end_ms, struct pm_err *err);

#endif
