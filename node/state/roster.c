/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/roster.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_file.h"

#define VERSION 1

static bool read_module(const json_object *object, struct pm_module *ret)
{
	return json_object_is_type(object, json_type_object) &&
	       pm_json_copy_filled(object, "id", ret->id, sizeof(ret->id)) &&
	       pm_json_copy_filled(object, "socket", ret->socket, sizeof(ret->socket)) &&
	       !pm_json_u64(object, "capacity_bytes", &ret->capacity_bytes);
}

static bool read_modules(const json_object *root, void *into)
{
	struct pm_roster *roster = into;
	json_object *list;
	uint64_t version;

	if (pm_json_u64(root, "version", &version) || version != VERSION ||
		!json_object_object_get_ex(root, "modules", &list) ||
		!json_object_is_type(list, json_type_array))
		return false;
	roster->list = calloc(json_object_array_length(list) + 1, sizeof(*roster->list));
	if (!roster->list)
		return false;
	for (; roster->n < json_object_array_length(list); roster->n++)
		if (!read_module(
			    json_object_array_get_idx(list, roster->n), &roster->list[roster->n]))
			return false;
	return true;
}

int pm_roster_read(const char *path, struct pm_roster *ret, struct pm_err *err)
{
	cleanup_with(pm_roster_done) struct pm_roster roster = {0};
	int rc = pm_json_file_read(path, "a list of modules", read_modules, &roster, err);

	if (rc)
		return rc;
	*ret = roster;
	roster = (struct pm_roster){0};
	return 0;
}

static json_object *module_object(const struct pm_dimm *dimm)
{
	json_object *object = json_object_new_object();

	pm_json_add_string(object, "id", dimm->id);
	pm_json_add_string(object, "socket", dimm->socket);
	pm_json_add_u64(object, "capacity_bytes", dimm->capacity_bytes);
	return object;
}

int pm_roster_write(const char *path, const struct pm_dimms *dimms, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();
	json_object *list = json_object_new_array();
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < dimms->n; i++)
		json_object_array_add(list, module_object(&dimms->list[i]));
	pm_json_add_u64(root, "version", VERSION);
	json_object_object_add(root, "modules", list);
	text = pm_json_format(root);
	if (!text)
		return pm_err_nomem(err);
	return pm_file_write(path, 0644, text, strlen(text), err);
}

static bool has(const struct pm_roster *roster, const struct pm_dimm *dimm)
{
	for (size_t i = 0; i < roster->n; i++)
		if (!strcmp(roster->list[i].id, dimm->id) &&
			!strcmp(roster->list[i].socket, dimm->socket) &&
			roster->list[i].capacity_bytes == dimm->capacity_bytes)
			return true;
	return false;
}

bool pm_roster_equals(const struct pm_roster *roster, const struct pm_dimms *dimms)
{
	if (roster->n != dimms->n)
		return false;
	for (size_t i = 0; i < dimms->n; i++)
		if (!has(roster, &dimms->list[i]))
			return false;
	return true;
}

const struct pm_module *pm_roster_missing(
	const struct pm_roster *roster, const struct pm_dimms *dimms)
{
	for (size_t i = 0; i < roster->n; i++) {
		size_t k = 0;

		while (k < dimms->n && strcmp(dimms->list[k].id, roster->list[i].id))
			k++;
		if (k == dimms->n)
			return &roster->list[i];
	}
	return NULL;
}

void pm_roster_done(struct pm_roster *roster)
{
	free(roster->list);
	*roster = (struct pm_roster){0};
}
