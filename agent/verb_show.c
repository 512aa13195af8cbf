/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>

#include "agent/print.h"
#include "agent/show.h"

static void add_line(json_object *root, const char *key, const char *text)
{
	json_object *list;

	if (json_object_object_get_ex(root, key, &list))
		json_object_array_add(list, json_object_new_string(text));
}

void pm_show_unseen(json_object *root, const char *what, const char *why)
{
	char text[PM_ERR_TEXT_MAX + 40];

	snprintf(text, sizeof(text), "%s: %s", what, why);
	add_line(root, "unseen", text);
}

void pm_show_block(json_object *root, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	add_line(root, "blocks", text);
}

int pm_verb_show(struct pm_agent *agent)
{
	json_object *root = json_object_new_object();

	pm_json_add_string(root, "node", agent->config.node);
	json_object_object_add(root, "blocks", json_object_new_array());
	json_object_object_add(root, "unseen", json_object_new_array());
	pm_show_mode(agent, root);
	pm_show_modules(agent, root);
	pm_show_regions(agent, root);
	if (agent->given & PM_OPT_JSON) {
		pm_print_json(root);
		return PM_EXIT_DONE;
	}
	pm_show_print(root);
	json_object_put(root);
	return PM_EXIT_DONE;
}
