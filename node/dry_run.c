/* SPDX-License-Identifier: Apache-2.0 */
#include "node/dry_run.h"

#include "base/json.h"

static const char steps_key[] = "steps", reboot_key[] = "reboot";

struct json_object *pm_would_new(void)
{
	json_object *would = json_object_new_object();

	json_object_object_add(would, steps_key, json_object_new_array());
	json_object_object_add(would, reboot_key, json_object_new_boolean(false));
	return would;
}

static void keep(json_object *would, const char *command, const char *loss)
{
	json_object *step = json_object_new_object(), *list;

	pm_json_add_string(step, "command", command);
	pm_json_add_string(step, "destroys", loss);
	json_object_object_get_ex(would, steps_key, &list);
	json_object_array_add(list, step);
}

void pm_would_run(const struct pm_operation *op, const char *command, const char *loss)
{
	pm_say(op, "would run '%s'%s%s", command ? command : "", loss ? ", which destroys " : "",
		loss ? loss : "");
	if (op->would)
		keep(op->would, command, loss);
}

void pm_would_reboot(const struct pm_operation *op)
{
	if (op->would)
		json_object_object_add(op->would, reboot_key, json_object_new_boolean(true));
}
