/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CALIBRATE_INSTALL_H
#define PM_CALIBRATE_INSTALL_H

/* pmctl calibrate --install: the profile becomes that of its class on this node. */
#include "agent/pmctl.h"
#include "site/site_profile.h"

/*
 * *ret_path: the file in SiteProfileDir, malloc'ed. Checks that this process may write it and that
 * only root could: -EPERM; -EINVAL: no --class; makes the directory. A virtual machine needs
 * --allow-virtual: -EPERM. -EXDEV: the installed profile is of a virtual machine and this is a real
 * one, or the other way; errors of pm_site_profile_load_site(). *ret_path is freed by the caller in
 * any case.
 */
int pm_calibrate_install_path(const struct pm_agent *agent, const struct pm_site_profile *profile,
	char **ret_path, struct pm_err *err);

/* Adds what the installed profile has and this one has not, as measured in another mode. Errors as
 * above. */
int pm_calibrate_install_merge(
	const char *path, struct pm_site_profile *profile, struct pm_err *err);

#endif
