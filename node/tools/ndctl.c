/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/ndctl.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/tools/tool_json.h"

static const char no_uuid[] = "00000000-0000-0000-0000-000000000000";

#define COPY(object_, key_, to_) pm_tool_json_copy(object_, key_, to_, sizeof(to_))

/* With -v the label's UUID is raw_uuid, if it differs from the UUID of the mode. */
static bool read_uuid(const json_object *object, struct pm_namespace *ret)
{
	const char *key = json_object_object_get_ex(object, "raw_uuid", NULL) ? "raw_uuid" : "uuid";

	if (!COPY(object, key, ret->uuid))
		return false;
	if (!strcmp(ret->uuid, no_uuid))
		ret->uuid[0] = '\0';
	return true;
}

/* Of mode devdax: the first device of "daxregion", which ndctl 76 and 81 print with -v. */
static bool read_chardev(const json_object *object, struct pm_namespace *ret)
{
	json_object *region, *devices;
	const json_object *first;

	if (!COPY(object, "chardev", ret->chardev))
		return false;
	if (*ret->chardev || !json_object_object_get_ex(object, "daxregion", &region) ||
		!json_object_is_type(region, json_type_object) ||
		!json_object_object_get_ex(region, "devices", &devices) ||
		!json_object_is_type(devices, json_type_array))
		return true;
	first = json_object_array_length(devices) ? json_object_array_get_idx(devices, 0) : NULL;
	return !first || (json_object_is_type(first, json_type_object) &&
				 COPY(first, "chardev", ret->chardev));
}

static bool read_namespace(const json_object *object, struct pm_namespace *ret)
{
	if (!json_object_is_type(object, json_type_object))
		return false;
	ret->is_disabled = pm_tool_json_is(object, "state", "disabled");
	return COPY(object, "dev", ret->dev) && *ret->dev && COPY(object, "mode", ret->mode) &&
	       COPY(object, "name", ret->name) && COPY(object, "blockdev", ret->blockdev) &&
	       read_uuid(object, ret) && read_chardev(object, ret) &&
	       !pm_json_u64(object, "size", &ret->size_bytes);
}

static bool add_namespaces(void *found, const json_object *value)
{
	struct pm_namespaces *namespaces = found;
	size_t n = pm_tool_json_length(value);

	namespaces->list = calloc(n + 1, sizeof(*namespaces->list));
	if (!namespaces->list)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct pm_namespace *one = &namespaces->list[namespaces->n];

		*one = (struct pm_namespace){0};
		if (!read_namespace(pm_tool_json_element(value, i), one))
			return false;
		if (one->size_bytes)
			namespaces->n++;
	}
	return true;
}

/* Often larger than INT64_MAX, which pm_json_u64() refuses. */
static bool read_iset_id(const json_object *object, uint64_t *ret)
{
	json_object *member;

	*ret = 0;
	if (!json_object_object_get_ex(object, "iset_id", &member))
		return true;
	*ret = json_object_get_uint64(member);
	return json_object_is_type(member, json_type_int);
}

static bool read_region(const json_object *object, struct pm_nd_region *ret)
{
	json_object *namespaces;

	ret->is_disabled = pm_tool_json_is(object, "state", "disabled");
	return COPY(object, "dev", ret->dev) && *ret->dev &&
	       !pm_json_u64(object, "size", &ret->size_bytes) &&
	       !pm_json_u64(object, "available_size", &ret->available_bytes) &&
	       read_iset_id(object, &ret->iset_id) &&
	       pm_tool_json_node(object, "numa_node", &ret->numa_node) &&
	       pm_tool_json_node(object, "target_node", &ret->target_node) &&
	       (!json_object_object_get_ex(object, "namespaces", &namespaces) ||
		       add_namespaces(&ret->namespaces, namespaces));
}

static bool add_regions(void *found, const json_object *value)
{
	struct pm_nd_regions *regions = found;
	json_object *inner;
	size_t n;

	if (json_object_is_type(value, json_type_object) &&
		json_object_object_get_ex(value, "regions", &inner))
		value = inner;
	n = pm_tool_json_length(value);
	regions->list = calloc(n + 1, sizeof(*regions->list));
	if (!regions->list)
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_object *one = pm_tool_json_element(value, i);

		if (!json_object_is_type(one, json_type_object))
			return false;
		if (pm_json_string(one, "type") && !pm_tool_json_is(one, "type", "pmem"))
			continue;
		regions->n++;
		if (!read_region(one, &regions->list[regions->n - 1]))
			return false;
	}
	return true;
}

int pm_ndctl_namespaces(
	const char *text, size_t length, struct pm_namespaces *ret, struct pm_err *err)
{
	cleanup_with(pm_namespaces_done) struct pm_namespaces found = {0};
	int rc = pm_tool_json(text, length, "namespaces of ndctl", add_namespaces, &found, err);

	if (rc)
		return rc;
	*ret = found;
	found = (struct pm_namespaces){0};
	return 0;
}

int pm_ndctl_regions(const char *text, size_t length, struct pm_nd_regions *ret, struct pm_err *err)
{
	cleanup_with(pm_nd_regions_done) struct pm_nd_regions found = {0};
	int rc = pm_tool_json(text, length, "regions of ndctl", add_regions, &found, err);

	if (rc)
		return rc;
	*ret = found;
	found = (struct pm_nd_regions){0};
	return 0;
}

void pm_namespaces_done(struct pm_namespaces *namespaces)
{
	free(namespaces->list);
	*namespaces = (struct pm_namespaces){0};
}

void pm_nd_regions_done(struct pm_nd_regions *regions)
{
	for (size_t i = 0; i < regions->n; i++)
		pm_namespaces_done(&regions->list[i].namespaces);
	free(regions->list);
	*regions = (struct pm_nd_regions){0};
}
