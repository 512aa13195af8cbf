/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/pmctl.h"
#include "agent/print.h"

static void print_json(const struct pm_config *config)
{
	json_object *root = json_object_new_object(), *keys = json_object_new_object();

	for (enum pm_key key = 0; key < PM_KEY_MAX; key++) {
		json_object *one = json_object_new_object();

		pm_json_add_string(one, "value", config->text[key]);
		pm_json_add_string(one, "origin", config->origin[key]);
		json_object_object_add(keys, pm_key_info(key)->name, one);
	}
	pm_json_add_string(root, "node", config->node);
	pm_json_add_string(root, "file", config->file);
	json_object_object_add(root, "keys", keys);
	pm_print_json(root);
}

int pm_verb_show_config(struct pm_agent *agent)
{
	const struct pm_config *config = &agent->config;

	if (agent->given & PM_OPT_JSON) {
		print_json(config);
		return PM_EXIT_DONE;
	}
	printf("# node %s, file %s\n", config->node, config->file ? config->file : "none");
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++)
		printf("%s=%s # %s\n", pm_key_info(key)->name, config->text[key],
			config->origin[key]);
	return PM_EXIT_DONE;
}
