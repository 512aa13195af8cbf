/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/explain_policy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/print.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/run.h"
#include "base/strv.h"

/* slurmctld answers a test as it answers a submission. */
#define TIMEOUT_MS 60000

/* Of sbatch, which knows which of the user's words is a script. */
static const char has_script[] = "Script arguments not permitted with --wrap option";

/* sbatch's options in front of the user's. Without a script of theirs the job is `wraps`. */
static const char **make_argv(const struct pm_agent *agent, bool wraps)
{
	size_t n = 0, n_words = (size_t)agent->n_words;
	const char **argv = calloc(n_words + 4, sizeof(*argv));

	if (!argv)
		return NULL;
	argv[n++] = agent->op.config.sbatch_path;
	argv[n++] = "--test-only";
	if (wraps)
		argv[n++] = "--wrap=:";
	for (size_t i = 0; i < n_words; i++)
		argv[n++] = agent->words[i];
	return argv;
}

static const char *skip(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) ? text : text + length;
}

/* "Name: VALUE (ORIGIN)"; other lines are sentences, which begin with small letters or have no
 * colon. */
static void add_line(json_object *root, const char *line)
{
	json_object *list = json_object_object_get(root, "policy"), *row;
	const char *colon = strstr(line, ": "), *open = strrchr(line, '(');
	size_t length = strlen(line);
	bool has_origin = open && length && line[length - 1] == ')' && open[-1] == ' ';
	cleanup_free char *name = colon ? strndup(line, (size_t)(colon - line)) : NULL;
	cleanup_free char *value = NULL, *origin = NULL;

	if (!name || !isupper((unsigned char)*name)) {
		json_object_array_add(
			json_object_object_get(root, "sentences"), json_object_new_string(line));
		return;
	}
	value = has_origin ? strndup(colon + 2, (size_t)(open - 1 - (colon + 2)))
			   : strdup(colon + 2);
	origin = has_origin ? strndup(open + 1, length - (size_t)(open + 1 - line) - 1) : NULL;
	row = pm_json_append_object(list);
	pm_json_add_string(row, "name", name);
	pm_json_add_string(row, "value", value);
	if (origin)
		pm_json_add_string(row, "origin", origin);
}

static void print(const struct pm_agent *agent, const struct pm_output *output)
{
	cleanup_with(pm_strv_cleanup) char **lines = pm_strv_split(output->err, "\n");
	json_object *root = agent->given & PM_OPT_JSON ? json_object_new_object() : NULL;

	if (root) {
		pm_json_add_u64(root, "version", 1);
		pm_json_add_bool(root, "accepted", output->status == 0);
		(void)pm_json_add_array(root, "policy");
		(void)pm_json_add_array(root, "sentences");
	}
	for (size_t i = 0; lines && lines[i]; i++) {
		const char *line = skip(skip(skip(lines[i], "sbatch: "), "error: "), "pm: ");

		if (root)
			add_line(root, line);
		else
			puts(line);
	}
	if (root)
		pm_print_json(root);
}

static int ask(const struct pm_agent *agent, bool wraps, struct pm_output *ret, struct pm_err *err)
{
	cleanup_free const char **argv = make_argv(agent, wraps);
	const struct pm_program run = {.argv = argv,
		.env = (const char *const *)environ,
		.timeout_ms = TIMEOUT_MS,
		.dies = true};

	return argv ? pm_run(&run, ret, err) : pm_err_nomem(err);
}

int pm_explain_policy(struct pm_agent *agent)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	struct pm_err err;
	int rc;

	if (setenv("PM_EXPLAIN", "1", 1))
		return PM_EXIT_FAILED;
	rc = ask(agent, /* wraps= */ true, &output, &err);
	if (!rc && output.status && strstr(output.err, has_script)) {
		pm_output_done(&output);
		output = (struct pm_output){0};
		rc = ask(agent, /* wraps= */ false, &output, &err);
	}
	if (rc)
		return pm_fail(agent, &err);
	print(agent, &output);
	return output.status ? PM_EXIT_FAILED : PM_EXIT_DONE;
}
