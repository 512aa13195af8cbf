/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/calibrate_install.h"

#include <errno.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/secure.h"
#include "site/profile_merge.h"

static int check_may(
	const struct pm_agent *agent, const struct pm_site_profile *profile, struct pm_err *err)
{
	if (agent->output)
		return pm_err_set(err, -EINVAL, "--install and --output exclude each other");
	if (!agent->class)
		return pm_err_set(err, -EINVAL, "--install needs --class=NAME");
	if (geteuid())
		return pm_err_set(err, -EPERM,
			"--install writes '%s/%s.json': run it as root, or write --output=FILE",
			agent->op.config.site_profile_dir, profile->class);
	if (profile->is_virtual && !(agent->given & PM_OPT_ALLOW_VIRTUAL))
		return pm_err_set(err, -EPERM,
			"this is a virtual machine, so that its numbers say nothing about the "
			"class; --allow-virtual installs them all the same");
	return 0;
}

static const char *kind_of(const struct pm_site_profile *profile)
{
	return profile->is_virtual ? "a virtual machine" : "a real one";
}

/* The installed profile, without rows if there is none. */
static int load_installed(const char *path, const struct pm_site_profile *profile,
	struct pm_site_profile *ret, struct pm_err *err)
{
	int rc = pm_site_profile_load_site(path, ret, err);

	if (rc == -ENOENT)
		return 0;
	if (!rc && ret->is_virtual != profile->is_virtual)
		rc = pm_err_set(err, -EXDEV,
			"'%s' is of %s and this is %s: remove it, or write --output=FILE", path,
			kind_of(ret), kind_of(profile));
	return rc;
}

int pm_calibrate_install_path(const struct pm_agent *agent, const struct pm_site_profile *profile,
	char **ret_path, struct pm_err *err)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile installed = {0};
	const char *dir = agent->op.config.site_profile_dir;
	int rc = check_may(agent, profile, err);

	if (!rc)
		rc = pm_secure_make_dir(dir, err);
	if (rc)
		return rc;
	*ret_path = pm_asprintf("%s/%s.json", dir, profile->class);
	return *ret_path ? load_installed(*ret_path, profile, &installed, err) : pm_err_nomem(err);
}

int pm_calibrate_install_merge(
	const char *path, struct pm_site_profile *profile, struct pm_err *err)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile installed = {0};
	int rc = load_installed(path, profile, &installed, err);

	return rc ? rc : pm_site_profile_add_missing(profile, &installed, err);
}
