/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "base/strv.h"
#include "site/config_check.h"

struct findings {
	json_object *list;
	unsigned errors, remarks;
	bool is_json;
};

static void take(void *context, bool is_error, const char *text)
{
	struct findings *findings = context;
	json_object *row;

	*(is_error ? &findings->errors : &findings->remarks) += 1;
	if (!findings->is_json) {
		printf("%s: %s\n", is_error ? "error" : "remark", text);
		return;
	}
	row = pm_json_append_object(findings->list);
	pm_json_add_bool(row, "error", is_error);
	pm_json_add_string(row, "text", text);
}

/* The value of a key for the jobs of a partition; NULL: of the others. */
static void print_key(const struct pm_config *config, const char *partition, enum pm_key key)
{
	const char *text =
		partition ? pm_job_pairs_find(&config->for_jobs, partition, (int)key) : NULL;

	printf("  %s=%s\n", pm_key_info(key)->name, text ? text : config->text[key]);
}

static void print_partition(const struct pm_config *config, const char *partition)
{
	printf("%s%s\n", partition ? "partition " : "all other partitions",
		partition ? partition : "");
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++)
		if (pm_key_info(key)->by_job)
			print_key(config, partition, key);
}

/* Partitions in the order in which lines name them, each once. */
static void print_partitions(const struct pm_config *config)
{
	for (size_t i = 0; i < config->for_jobs.count; i++) {
		const char *partitions = config->for_jobs.list[i].partitions;
		cleanup_with(pm_strv_cleanup) char **names =
			pm_strv_split(partitions ? partitions : "", ",");

		for (size_t k = 0; names && names[k]; k++)
			if (pm_job_pairs_first(&config->for_jobs, i, names[k]))
				print_partition(config, names[k]);
	}
	print_partition(config, NULL);
}

static void print_json(const struct findings *findings)
{
	json_object *root = json_object_new_object();

	pm_json_add_u64(root, "version", 1);
	pm_json_add_bool(root, "ok", !findings->errors);
	json_object_object_add(root, "findings", json_object_get(findings->list));
	pm_print_json(root);
}

int pm_verb_check_config(struct pm_agent *agent)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_with(pm_json_cleanup) json_object *list = json_object_new_array();
	struct findings findings = {.list = list, .is_json = agent->given & PM_OPT_JSON};
	const char *file = agent->n_words ? agent->words[0] : PM_CONFIG_DEFAULT_PATH;
	struct pm_err err;

	if (!list)
		return PM_EXIT_FAILED;
	if (pm_config_check(file, agent->op.node, take, &findings, &config, &err))
		return pm_fail(agent, &err);
	if (findings.is_json)
		print_json(&findings);
	else if (agent->given & PM_OPT_FOR_JOB)
		print_partitions(&config);
	else if (!findings.errors && !findings.remarks)
		printf("%s: nothing is wrong\n", file);
	return findings.errors ? PM_EXIT_FAILED : PM_EXIT_DONE;
}
