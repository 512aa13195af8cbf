/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CALIBRATE_PART_H
#define PM_AGENT_CALIBRATE_PART_H

/*
 * OUTPUT.part: the profile of a calibration that is not finished, beside the file that it becomes.
 * A calibration that was interrupted is continued from it.
 */
#include "site/site_profile.h"

/* malloc'ed; NULL when out of memory. */
char *pm_calibrate_part_path(const char *output);

/*
 * Puts the measures of a part into *profile, which has class, host, cpu and kernel of this run, and
 * no measures; without a part nothing is put there. -ESTALE: it is of another class or machine.
 * Errors of pm_site_profile_load().
 */
int pm_calibrate_part_load(const char *path, struct pm_site_profile *profile, struct pm_err *err);

/* Writes the profile so far. Errors of pm_file_write(); -ENOMEM. */
int pm_calibrate_part_save(
	const char *path, const struct pm_site_profile *profile, struct pm_err *err);

#endif
