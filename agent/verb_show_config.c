/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/pmctl.h"
#include "agent/print.h"

static void add_jobs(const struct pm_config *config, json_object *root)
{
	json_object *list = pm_json_add_array(root, "jobs");

	for (size_t i = 0; i < config->for_jobs.count; i++) {
		const struct pm_job_pair *pair = &config->for_jobs.list[i];
		json_object *one = pm_json_append_object(list);

		pm_json_add_string(one, "scope", pair->scope);
		if (pair->partitions)
			pm_json_add_string(one, "partitions", pair->partitions);
		pm_json_add_string(one, "key", pm_key_info((enum pm_key)pair->key)->name);
		pm_json_add_string(one, "value", pair->text);
		pm_json_add_string(one, "origin", pair->origin);
	}
}

static void print_jobs(const struct pm_config *config)
{
	for (size_t i = 0; i < config->for_jobs.count; i++) {
		const struct pm_job_pair *pair = &config->for_jobs.list[i];

		printf("%s %s=%s # %s\n", pair->scope, pm_key_info((enum pm_key)pair->key)->name,
			pair->text, pair->origin);
	}
}

static void print_json(const struct pm_config *config)
{
	json_object *root = json_object_new_object(), *keys;

	add_jobs(config, root);
	pm_json_add_string(root, "node", config->node);
	pm_json_add_string(root, "file", config->file);
	keys = pm_json_add_object(root, "keys");
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++) {
		json_object *one = pm_json_add_object(keys, pm_key_info(key)->name);

		pm_json_add_string(one, "value", config->text[key]);
		pm_json_add_string(one, "origin", config->origin[key]);
	}
	pm_print_json(root);
}

int pm_verb_show_config(struct pm_agent *agent)
{
	const struct pm_config *config = &agent->op.config;

	if (agent->given & PM_OPT_JSON) {
		print_json(config);
		return PM_EXIT_DONE;
	}
	printf("# node %s, file %s\n", config->node, config->file ? config->file : "none");
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++)
		printf("%s=%s # %s\n", pm_key_info(key)->name, config->text[key],
			config->origin[key]);
	print_jobs(config);
	return PM_EXIT_DONE;
}
