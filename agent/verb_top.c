/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/pmctl.h"
#include "agent/print.h"
#include "agent/top_here.h"
#include "agent/top_text.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "node/state/jobs.h"

#define PAUSE_S	 2
#define PAUSE_MS 2000

/* --- on each node, in a step of the job --- */

static int print_here(const struct pm_agent *agent, uint32_t job_id, struct pm_err *err)
{
	json_object *use;
	int rc = pm_top_here(&agent->op.config, job_id, &use, err);

	if (rc)
		return rc;
	puts(json_object_to_json_string_ext(use, JSON_C_TO_STRING_PLAIN));
	json_object_put(use);
	return fflush(stdout) ? pm_err_sys(err, -errno, "write") : 0;
}

/* Until the step is ended, or its reader is gone. */
static int serve_here(const struct pm_agent *agent, uint32_t job_id, struct pm_err *err)
{
	int rc = print_here(agent, job_id, err);

	while (!rc && !(agent->given & PM_OPT_JSON)) {
		(void)sleep(PAUSE_S);
		rc = print_here(agent, job_id, err);
	}
	return rc;
}

/* --- where it was typed --- */

/* The child: a step of one task on each node of the job, which takes nothing from its steps. */
static void run_step(const struct pm_agent *agent, const char *job)
{
	const char *srun = agent->op.config.srun_path;
	cleanup_free char *of_job = pm_asprintf("--jobid=%s", job);
	cleanup_free char *config = pm_asprintf("--config=%s",
		agent->op.config_path ? agent->op.config_path : PM_CONFIG_DEFAULT_PATH);
	const char *argv[] = {srun, of_job, "--overlap", "--ntasks-per-node=1", "--pm-bind=none",
		"--cpu-bind=none", "--mem=0", "--quiet", "/proc/self/exe", "top", "--here", config,
		job, agent->given & PM_OPT_JSON ? "--json" : NULL, NULL};
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (!of_job || !config || length < 0)
		_exit(PM_EXIT_FAILED);
	self[length] = '\0';
	argv[8] = self;
	execv(srun, (char *const *)argv);
	fprintf(stderr, "pmctl: top: run '%s': %s\n", srun, strerror(errno));
	_exit(PM_EXIT_FAILED);
}

static pid_t start_step(const struct pm_agent *agent, FILE **ret)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	child = fork();
	if (child == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		run_step(agent, agent->words[0]);
	}
	close(ends[1]);
	*ret = fdopen(ends[0], "r");
	if (child < 0 || !*ret)
		close(ends[0]);
	return *ret ? child : -1;
}

/* The newest object of each node, in the order of their names. */
static void keep(json_object *nodes, json_object *use)
{
	const char *name = pm_json_string(use, "node");
	size_t n = json_object_array_length(nodes);

	for (size_t i = 0; name && i < n; i++) {
		const char *other = pm_json_string(json_object_array_get_idx(nodes, i), "node");

		if (!strcmp(other, name)) {
			json_object_array_put_idx(nodes, i, use);
			return;
		}
	}
	if (name)
		json_object_array_add(nodes, use);
	else
		json_object_put(use);
}

static void draw(json_object *nodes)
{
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout); /* cursor home, clear: ECMA-48 */
	pm_top_print(nodes);
	(void)fflush(stdout);
}

static void follow(const struct pm_agent *agent, FILE *from, json_object *nodes)
{
	cleanup_free char *line = NULL;
	uint64_t drawn_ms = 0;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, from)) > 0) {
		json_object *use = pm_json_parse(line, (size_t)length);

		if (use)
			keep(nodes, use);
		if (agent->given & PM_OPT_JSON || pm_now_ms() - drawn_ms < PAUSE_MS / 2)
			continue;
		draw(nodes);
		drawn_ms = pm_now_ms();
	}
}

static void print_once(json_object *nodes)
{
	json_object *root = json_object_new_object();

	pm_json_add_u64(root, "version", 1);
	json_object_object_add(root, "nodes", json_object_get(nodes));
	pm_print_json(root);
}

/* srun has said on stderr why it failed. */
static int watch(const struct pm_agent *agent)
{
	cleanup_with(pm_json_cleanup) json_object *nodes = json_object_new_array();
	FILE *from = NULL;
	pid_t child = nodes ? start_step(agent, &from) : -1;
	int status = -1;

	if (child < 0) {
		fprintf(stderr, "pmctl: top: start srun: %s\n", strerror(errno));
		return PM_EXIT_FAILED;
	}
	follow(agent, from, nodes);
	(void)fclose(from);
	(void)waitpid(child, &status, 0);
	if (agent->given & PM_OPT_JSON && json_object_array_length(nodes))
		print_once(nodes);
	return json_object_array_length(nodes) ? PM_EXIT_DONE : PM_EXIT_FAILED;
}

int pm_verb_top(struct pm_agent *agent)
{
	uint32_t job_id;
	struct pm_err err;

	if (pm_job_parse_id(agent->words[0], &job_id)) {
		fprintf(stderr, "pmctl: top: '%s' is not a job's number\n", agent->words[0]);
		return PM_EXIT_USAGE;
	}
	if (agent->given & PM_OPT_HERE)
		return pm_finish(agent, serve_here(agent, job_id, &err), &err);
	return watch(agent);
}
