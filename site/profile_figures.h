/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROFILE_FIGURES_H
#define PM_PROFILE_FIGURES_H

/* The figures of a site profile for the memory nodes of a machine. */
#include "plan/topology_figures.h"
#include "site/site_profile.h"

/*
 * Of each package its own DRAM and persistent memory, and those of the next package, which is what
 * a calibration measures (site/measures.def). *ret is malloc'ed; *ret_n may be 0. -ENOMEM.
 */
int pm_profile_figures(const struct pm_site_profile *profile, const struct pm_topology *topology,
	struct pm_memory_figures **ret, size_t *ret_n, struct pm_err *err);

#endif
