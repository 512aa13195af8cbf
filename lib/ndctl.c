/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ndctl.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/json.h"
#include "lib/run.h"

#define QUOTE_BYTES 400

static bool is_blank(const char *text, size_t length)
{
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return length == 0;
}

static bool copy_string(const json_object *object, const char *key, char *to, size_t size)
{
	const char *text = pm_json_string(object, key);

	if (text && strlen(text) >= size)
		return false;
	strcpy(to, text ? text : "");
	return true;
}

static bool read_namespace(const json_object *object, struct pm_namespace *ret)
{
	if (!json_object_is_type(object, json_type_object))
		return false;
	return copy_string(object, "dev", ret->dev, sizeof(ret->dev)) && ret->dev[0] &&
	       copy_string(object, "mode", ret->mode, sizeof(ret->mode)) &&
	       copy_string(object, "name", ret->name, sizeof(ret->name)) &&
	       !pm_json_u64(object, "size", &ret->size_bytes);
}

static bool add(struct pm_namespaces *found, const json_object *object)
{
	struct pm_namespace one = {0};

	if (!read_namespace(object, &one))
		return false;
	if (one.size_bytes)
		found->list[found->n++] = one;
	return true;
}

static bool read_all(const json_object *root, struct pm_namespaces *found)
{
	size_t n = json_object_is_type(root, json_type_array) ? json_object_array_length(root) : 1;

	found->list = calloc(n + 1, sizeof(*found->list));
	if (!found->list)
		return false;
	if (!json_object_is_type(root, json_type_array))
		return add(found, root);
	for (size_t i = 0; i < n; i++)
		if (!add(found, json_object_array_get_idx(root, i)))
			return false;
	return true;
}

int pm_ndctl_namespaces(
	const char *text, size_t length, struct pm_namespaces *ret, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = NULL;
	cleanup_with(pm_namespaces_done) struct pm_namespaces found = {0};
	cleanup_free char *quote = NULL;

	if (!is_blank(text, length))
		root = pm_json_parse(text, length);
	if (is_blank(text, length) || (root && read_all(root, &found))) {
		*ret = found;
		found = (struct pm_namespaces){0};
		return 0;
	}
	quote = pm_quote(text, length, QUOTE_BYTES);
	return pm_err_set(err, -EBADMSG,
		"a JSON list of namespaces expected of ndctl, it printed: '%s'",
		quote ? quote : "");
}

void pm_namespaces_done(struct pm_namespaces *namespaces)
{
	free(namespaces->list);
	*namespaces = (struct pm_namespaces){0};
}
