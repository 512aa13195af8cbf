/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/tool_json.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/run.h"

#define QUOTE_BYTES 400
#define MAX_NODE    65535

static bool is_blank(const char *text, size_t length)
{
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return length == 0;
}

int pm_tool_json(const char *text, size_t length, const char *what,
	bool (*add)(void *found, const json_object *root), void *found, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = NULL;
	cleanup_free char *quote = NULL;

	if (is_blank(text, length))
		return 0;
	root = pm_json_parse(text, length);
	if (root && add(found, root))
		return 0;
	quote = pm_quote(text, length, QUOTE_BYTES);
	return pm_err_set(err, -EBADMSG, "a JSON list of %s expected, it printed: '%s'", what,
		quote ? quote : "");
}

size_t pm_tool_json_length(const json_object *value)
{
	return json_object_is_type(value, json_type_array) ? json_object_array_length(value) : 1;
}

const json_object *pm_tool_json_element(const json_object *value, size_t i)
{
	if (!json_object_is_type(value, json_type_array))
		return value;
	return json_object_array_get_idx(value, i);
}

bool pm_tool_json_copy(const json_object *object, const char *key, char *to, size_t size)
{
	const char *text = pm_json_string(object, key);

	if (text ? strlen(text) >= size : json_object_object_get_ex(object, key, NULL))
		return false;
	strcpy(to, text ? text : "");
	return true;
}

bool pm_tool_json_is(const json_object *object, const char *key, const char *value)
{
	const char *text = pm_json_string(object, key);

	return text && !strcmp(text, value);
}

bool pm_tool_json_node(const json_object *object, const char *key, int *ret)
{
	json_object *member;
	int64_t node;

	*ret = -1;
	if (!json_object_object_get_ex(object, key, &member))
		return true;
	node = json_object_is_type(member, json_type_int) ? json_object_get_int64(member) : -2;
	if (node < -1 || node > MAX_NODE)
		return false;
	*ret = (int)node;
	return true;
}
