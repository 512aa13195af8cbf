/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/show.h"

#include <stdarg.h>
#include <stdio.h>

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
