/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/would.h"

#include <stdio.h>

#include "agent/print.h"
#include "base/json.h"

static const char steps_key[] = "steps", reboot_key[] = "reboot";

int pm_would_begin(struct pm_agent *agent)
{
	if (!(agent->given & PM_OPT_JSON))
		return 0;
	if (!(agent->given & PM_OPT_DRY_RUN)) {
		fprintf(stderr, "pmctl: %s: --json goes with --dry-run only\n", agent->verb->name);
		return PM_EXIT_USAGE;
	}
	agent->would = json_object_new_object();
	json_object_object_add(agent->would, steps_key, json_object_new_array());
	json_object_object_add(agent->would, reboot_key, json_object_new_boolean(false));
	return 0;
}

static void keep(json_object *would, const char *command, const char *loss)
{
	json_object *step = json_object_new_object(), *list;

	pm_json_add_string(step, "command", command);
	pm_json_add_string(step, "destroys", loss);
	json_object_object_get_ex(would, steps_key, &list);
	json_object_array_add(list, step);
}

void pm_would_run(const struct pm_agent *agent, const char *command, const char *loss)
{
	pm_say(agent, "would run '%s'%s%s", command ? command : "", loss ? ", which destroys " : "",
		loss ? loss : "");
	if (agent->would)
		keep(agent->would, command, loss);
}

void pm_would_reboot(const struct pm_agent *agent)
{
	if (agent->would)
		json_object_object_add(agent->would, reboot_key, json_object_new_boolean(true));
}

void pm_would_end(struct pm_agent *agent, bool failed)
{
	if (!agent->would)
		return;
	if (failed)
		json_object_put(agent->would);
	else
		pm_print_json(agent->would);
	agent->would = NULL;
}
