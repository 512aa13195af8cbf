/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "agent/ask_cluster.h"
#include "agent/cluster_reboots.h"
#include "agent/cluster_text.h"
#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "base/since.h"
#include "base/strv.h"

#define WATCH_S 2

static void print_json(const struct pm_agent *agent, json_object *list)
{
	json_object *root = json_object_new_object();

	pm_json_add_u64(root, "version", 1);
	json_object_object_add(root,
		agent->given & (PM_OPT_NODES | PM_OPT_PROBLEMS) ? "nodes" : "modes",
		json_object_get(list));
	pm_print_json(root);
}

static void print_reboots(
	const struct pm_agent *agent, json_object *list, const struct pm_message *request)
{
	cleanup_with(pm_json_cleanup) json_object *root = pm_cluster_reboots(list, request);

	if (agent->given & PM_OPT_JSON)
		pm_print_json(json_object_get(root));
	else
		pm_print_cluster_reboots(root, request->by);
}

static void print(const struct pm_agent *agent, json_object *list, const struct pm_message *reboots)
{
	if (agent->given & PM_OPT_BY)
		print_reboots(agent, list, reboots);
	else if (agent->given & PM_OPT_JSON)
		print_json(agent, list);
	else if (agent->given & PM_OPT_PROBLEMS)
		pm_print_cluster_problems(list);
	else if (agent->given & PM_OPT_NODES)
		pm_print_cluster_nodes(list);
	else
		pm_print_cluster_modes(&agent->op.config, list);
}

static int ask_for_rows(const struct pm_agent *agent, const struct pm_message *reboots,
	json_object *list, struct pm_err *err)
{
	if (agent->given & PM_OPT_BY)
		return pm_ask_pages(&agent->op.config, *reboots, "name", list, err);
	if (agent->given & (PM_OPT_NODES | PM_OPT_PROBLEMS))
		return pm_ask_nodes(&agent->op.config, list, err);
	return pm_ask_modes(&agent->op.config, list, err);
}

static int ask_and_print(
	const struct pm_agent *agent, const struct pm_message *reboots, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *list = json_object_new_array();
	int rc = list ? ask_for_rows(agent, reboots, list, err) : pm_err_nomem(err);

	if (rc)
		return rc;
	if (agent->given & PM_OPT_WATCH && isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout); /* cursor home, clear: ECMA-48 */
	print(agent, list, reboots);
	return fflush(stdout) ? pm_err_sys(err, -errno, "write") : 0;
}

/* The request of --by and --since. */
static int read_reboots(const struct pm_agent *agent, struct pm_message *ret, struct pm_err *err)
{
	ret->type = PM_MESSAGE_REBOOTS;
	if (agent->since && !agent->by)
		return pm_err_set(err, -EINVAL, "--since goes with --by only");
	if (agent->by && agent->given & (PM_OPT_NODES | PM_OPT_PROBLEMS))
		return pm_err_set(err, -EINVAL, "--by goes without --nodes and --problems");
	if (agent->by && pm_names_find(pm_reboots_by_names, PM_BY_MAX, agent->by, &ret->by))
		return pm_err_set(err, -EINVAL,
			"reboots are not counted by '%.100s'; write user, account or partition",
			agent->by);
	if (agent->since && pm_since_parse(agent->since, time(NULL), &ret->since_s))
		return pm_err_set(err, -EINVAL,
			"'%.100s' is not a time; write 2026-11-01, 2026-11-01T08:30 or now-7days",
			agent->since);
	return 0;
}

int pm_verb_cluster(struct pm_agent *agent)
{
	struct pm_message reboots = {0};
	struct pm_err err = {0};
	int rc = read_reboots(agent, &reboots, &err);

	if (rc) {
		(void)pm_fail(agent, &err);
		return PM_EXIT_USAGE;
	}
	rc = ask_and_print(agent, &reboots, &err);
	while (!rc && agent->given & PM_OPT_WATCH) {
		(void)sleep(WATCH_S);
		rc = ask_and_print(agent, &reboots, &err);
	}
	return pm_finish(agent, rc, &err);
}
