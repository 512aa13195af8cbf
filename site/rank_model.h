/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RANK_MODEL_H
#define PM_RANK_MODEL_H

/*
 * From the site profile to a rank: the parameters of the performance model of its socket, for
 * PM_MODEL (model/words.h). Used by the plugin and by pmrun.
 */
#include "plan/plan.h"
#include "site/config.h"
#include "site/site_profile.h"

/* True: `asked` names a file, which only its user's rights may open; else it is a class or "none".
 */
bool pm_site_profile_is_file(const char *asked);

/*
 * Loads CLASS.json of that directory; release with pm_site_profile_done(). -EINVAL: no name of a
 * class; -EBADMSG: of another class; errors of pm_site_profile_load_site(). On failure *ret is
 * untouched.
 */
int pm_site_profile_load_class(
	const char *class, const char *dir, struct pm_site_profile *ret, struct pm_err *err);

/*
 * Loads the profile that `asked` names: a class, "optane-100" for optane-100.json in `dir`; or a
 * file. Checks that it is of that class, not measured under a hypervisor, and has the model's
 * parameters for each package of `topology`; release with pm_site_profile_done(). For
 * "none" *ret has no sockets. On failure *ret is untouched: errors of pm_site_profile_load(),
 * pm_site_profile_load_class() and pm_site_profile_model(); -EPERM: virtual.
 */
int pm_rank_model_load(const char *asked, const char *dir, const struct pm_topology *topology,
	struct pm_site_profile *ret, struct pm_err *err);

/*
 * The same for SiteProfile= of pmem.conf, with its SiteProfilePeaks. A slip of the site costs ranks
 * their PM_MODEL, not their start: the sentence of an error says so, and callers only print it.
 */
int pm_rank_model_load_site(const struct pm_config *config, const struct pm_topology *topology,
	struct pm_site_profile *ret, struct pm_err *err);

/*
 * The value of PM_MODEL for a rank of a plan for that topology; "": the profile has no sockets, or
 * the rank is not bound to one package.
 */
int pm_rank_model_format(const struct pm_site_profile *profile, const struct pm_topology *topology,
	const struct pm_plan *plan, unsigned rank, char text[PM_MODEL_TEXT_MAX],
	struct pm_err *err);

#endif
