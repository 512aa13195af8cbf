/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/ask_controller.h"
#include "agent/cluster_text.h"
#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define TIMEOUT_MS 10000

/* A user who asks for many nodes is closed out for a while: pm-controller limits requests. */
#define RETRIES	 40
#define RETRY_MS 250

#define WATCH_S 2

static int ask(const struct pm_agent *agent, struct pm_message *request, struct pm_message *ret,
	struct pm_err *err)
{
	int rc = -ECONNRESET;

	for (unsigned i = 0; rc == -ECONNRESET && i < RETRIES; i++) {
		if (i)
			pm_pause_ms(RETRY_MS);
		rc = pm_ask_controller(&agent->op.config, TIMEOUT_MS, request, ret, err);
	}
	return rc;
}

/* Moves the rows to the end of the list. Returns the last one's node; NULL: there is none. */
static const char *move(json_object *rows, json_object *list)
{
	size_t n = json_object_array_length(rows);

	for (size_t i = 0; i < n; i++)
		json_object_array_add(list, json_object_get(json_object_array_get_idx(rows, i)));
	return n ? pm_json_string(json_object_array_get_idx(rows, n - 1), "node") : NULL;
}

/* A reply has as many nodes as fit; an empty one is the end. */
static int ask_nodes(const struct pm_agent *agent, json_object *list, struct pm_err *err)
{
	const char *last = NULL;

	do {
		cleanup_with(pm_message_done) struct pm_message reply = {0};
		struct pm_message request = {.type = PM_MESSAGE_NODES, .node = (char *)last};
		int rc = ask(agent, &request, &reply, err);

		if (rc)
			return rc;
		last = move(reply.list, list);
	} while (last);
	return 0;
}

static int ask_modes(const struct pm_agent *agent, json_object *list, struct pm_err *err)
{
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	struct pm_message request = {.type = PM_MESSAGE_CLUSTER};
	int rc = ask(agent, &request, &reply, err);

	if (!rc)
		(void)move(reply.list, list);
	return rc;
}

static void print(const struct pm_agent *agent, json_object *list)
{
	json_object *root;

	if (agent->given & PM_OPT_JSON) {
		root = json_object_new_object();
		pm_json_add_u64(root, "version", 1);
		json_object_object_add(root,
			agent->given & (PM_OPT_NODES | PM_OPT_PROBLEMS) ? "nodes" : "modes",
			json_object_get(list));
		pm_print_json(root);
	} else if (agent->given & PM_OPT_PROBLEMS) {
		pm_print_cluster_problems(list);
	} else if (agent->given & PM_OPT_NODES) {
		pm_print_cluster_nodes(list);
	} else {
		pm_print_cluster_modes(&agent->op.config, list);
	}
}

static int ask_and_print(const struct pm_agent *agent, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *list = json_object_new_array();
	bool by_node = agent->given & (PM_OPT_NODES | PM_OPT_PROBLEMS);
	int rc;

	if (!list)
		return pm_err_nomem(err);
	rc = by_node ? ask_nodes(agent, list, err) : ask_modes(agent, list, err);
	if (rc)
		return rc;
	if (agent->given & PM_OPT_WATCH && isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout); /* cursor home, clear: ECMA-48 */
	print(agent, list);
	return fflush(stdout) ? pm_err_sys(err, -errno, "write") : 0;
}

int pm_verb_cluster(struct pm_agent *agent)
{
	struct pm_err err = {0};
	int rc = ask_and_print(agent, &err);

	while (!rc && agent->given & PM_OPT_WATCH) {
		(void)sleep(WATCH_S);
		rc = ask_and_print(agent, &err);
	}
	return pm_finish(agent, rc, &err);
}
