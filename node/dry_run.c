/* SPDX-License-Identifier: Apache-2.0 */
#include "node/dry_run.h"

#include "base/json.h"

static const char steps_key[] = "steps", reboot_key[] = "reboot";

struct json_object *pm_dry_run_new(void)
{
	json_object *report = json_object_new_object();

	json_object_object_add(report, steps_key, json_object_new_array());
	json_object_object_add(report, reboot_key, json_object_new_boolean(false));
	return report;
}

static void keep(json_object *report, const char *command, const char *loss)
{
	json_object *step = json_object_new_object(), *list;

	pm_json_add_string(step, "command", command);
	pm_json_add_string(step, "destroys", loss);
	json_object_object_get_ex(report, steps_key, &list);
	json_object_array_add(list, step);
}

void pm_dry_run_step(const struct pm_operation *op, const char *command, const char *loss)
{
	pm_report(op, "would run '%s'%s%s", command ? command : "", loss ? ", which destroys " : "",
		loss ? loss : "");
	if (op->dry_run_report)
		keep(op->dry_run_report, command, loss);
}

void pm_dry_run_reboot(const struct pm_operation *op)
{
	if (op->dry_run_report)
		json_object_object_add(
			op->dry_run_report, reboot_key, json_object_new_boolean(true));
}
