/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "agent/own_topology.h"
#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "site/profile_figures.h"
#include "site/rank_model.h"

static void cleanup_topology(struct pm_topology **topology)
{
	pm_topology_free(*topology);
}

/* --site-profile=FILE, or that of the node's class. */
static int load_profile(
	const struct pm_agent *agent, struct pm_site_profile *ret, struct pm_err *err)
{
	const struct pm_config *config = &agent->op.config;

	if (agent->site_profile)
		return pm_site_profile_load(agent->site_profile, ret, err);
	if (!strcmp(config->site_profile, "none"))
		return pm_err_set(err, -ENODATA,
			"no site profile: this node has no SiteProfile= in pmem.conf; name one by "
			"--site-profile=FILE");
	return pm_site_profile_load_class(config->site_profile, config->site_profile_dir, ret, err);
}

static int describe(const struct pm_agent *agent, const struct pm_site_profile *profile,
	char **ret_xml, struct pm_err *err)
{
	cleanup_with(cleanup_topology) struct pm_topology *topology = NULL;
	cleanup_free struct pm_memory_figures *figures = NULL;
	size_t n = 0;
	int rc = pm_own_topology(&agent->op.config, &topology, err);

	if (!rc)
		rc = pm_profile_figures(profile, topology, &figures, &n, err);
	if (!rc && !n)
		rc = pm_err_set(err, -ENODATA, "site profile '%s' has no socket of this machine",
			profile->class);
	if (!rc)
		rc = pm_topology_set_figures(topology, figures, n, err);
	return rc ? rc : pm_topology_xml(topology, ret_xml, err);
}

int pm_verb_topology(struct pm_agent *agent)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0};
	cleanup_free char *xml = NULL;
	struct pm_err err = {0};
	int rc = load_profile(agent, &profile, &err);

	if (!rc && profile.is_virtual && !(agent->given & PM_OPT_ALLOW_VIRTUAL))
		rc = pm_site_profile_refuse_virtual(&profile, &err);
	if (!rc)
		rc = describe(agent, &profile, &xml, &err);
	if (!rc)
		rc = pm_write_output(agent->output, xml, &err);
	return pm_finish(agent, rc, &err);
}
