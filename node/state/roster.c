/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/roster.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/store.h"

static bool read_module(const json_object *object, void *into)
{
	struct pm_roster *roster = into;
	struct pm_module *module = pm_list_next(&roster->list, roster->n, sizeof(*module));

	roster->n += module != NULL;
	return module && pm_json_copy_filled(object, "id", module->id, sizeof(module->id)) &&
	       pm_json_copy_filled(object, "socket", module->socket, sizeof(module->socket)) &&
	       !pm_json_u64(object, "capacity_bytes", &module->capacity_bytes);
}

static bool read_modules(const json_object *root, void *roster)
{
	return pm_json_each(root, "modules", json_type_object, read_module, roster);
}

static json_object *module_object(const struct pm_dimm *dimm)
{
	json_object *object = json_object_new_object();

	pm_json_add_string(object, "id", dimm->id);
	pm_json_add_string(object, "socket", dimm->socket);
	pm_json_add_u64(object, "capacity_bytes", dimm->capacity_bytes);
	return object;
}

static void format(const void *from, json_object *root)
{
	const struct pm_dimms *dimms = from;
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < dimms->n; i++)
		json_object_array_add(list, module_object(&dimms->list[i]));
	json_object_object_add(root, "modules", list);
}

static void release(void *roster)
{
	pm_roster_done(roster);
}

static const struct pm_store store = {
	.what = "a list of modules",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.size = sizeof(struct pm_roster),
	.read = read_modules,
	.done = release,
	.format = format,
};

int pm_roster_read(const char *path, struct pm_roster *ret, struct pm_err *err)
{
	return pm_store_read(&store, path, ret, err);
}

int pm_roster_write(const char *path, const struct pm_dimms *dimms, struct pm_err *err)
{
	return pm_store_write(&store, path, dimms, err);
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
