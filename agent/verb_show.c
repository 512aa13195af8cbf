/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/print.h"
#include "agent/show.h"

int pm_verb_show(struct pm_agent *agent)
{
	json_object *root = json_object_new_object();

	pm_json_add_string(root, "node", agent->op.config.node);
	pm_json_add_array(root, "blocks");
	pm_json_add_array(root, "unseen");
	pm_show_mode(agent, root);
	pm_show_modules(agent, root);
	pm_show_regions(agent, root);
	pm_show_site_profile(agent, root);
	if (agent->given & PM_OPT_JSON) {
		pm_print_json(root);
		return PM_EXIT_DONE;
	}
	pm_show_print(root);
	json_object_put(root);
	return PM_EXIT_DONE;
}
