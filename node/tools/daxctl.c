/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/daxctl.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/tools/tool_json.h"

#define COPY(object_, key_, to_) pm_tool_json_copy(object_, key_, to_, sizeof(to_))

static bool read_count(const json_object *object, const char *key, uint64_t *ret)
{
	int rc = pm_json_u64(object, key, ret);

	return !rc || rc == -ENOENT;
}

static bool read_device(const json_object *object, struct pm_dax *ret)
{
	json_object *movable;

	if (!json_object_is_type(object, json_type_object))
		return false;
	ret->is_disabled = pm_tool_json_is(object, "state", "disabled");
	ret->is_movable = json_object_object_get_ex(object, "movable", &movable) &&
			  json_object_get_boolean(movable);
	return COPY(object, "chardev", ret->chardev) && *ret->chardev &&
	       COPY(object, "mode", ret->mode) && !pm_json_u64(object, "size", &ret->size_bytes) &&
	       pm_tool_json_node(object, "target_node", &ret->target_node) &&
	       read_count(object, "online_memblocks", &ret->online_blocks) &&
	       read_count(object, "total_memblocks", &ret->total_blocks);
}

static bool add_devices(void *found, const json_object *value)
{
	struct pm_daxes *daxes = found;
	size_t n = pm_tool_json_length(value);

	daxes->list = calloc(n + 1, sizeof(*daxes->list));
	if (!daxes->list)
		return false;
	for (; daxes->n < n; daxes->n++)
		if (!read_device(pm_tool_json_element(value, daxes->n), &daxes->list[daxes->n]))
			return false;
	return true;
}

int pm_daxctl_devices(const char *text, size_t length, struct pm_daxes *ret, struct pm_err *err)
{
	cleanup_with(pm_daxes_done) struct pm_daxes found = {0};
	int rc = pm_tool_json(text, length, "devices of daxctl", add_devices, &found, err);

	if (rc)
		return rc;
	*ret = found;
	found = (struct pm_daxes){0};
	return 0;
}

bool pm_dax_is_ram(const struct pm_dax *dax)
{
	return !strcmp(dax->mode, "system-ram");
}

void pm_daxes_done(struct pm_daxes *daxes)
{
	free(daxes->list);
	*daxes = (struct pm_daxes){0};
}
