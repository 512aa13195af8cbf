/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/pins.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/timestamp.h"
#include "node/tools/tool_json.h"

#define VERSION 1

#define COPY(object_, key_, to_) pm_tool_json_copy(object_, key_, to_, sizeof(to_))

static bool read_pin(const json_object *object, struct pm_pin *ret)
{
	return json_object_is_type(object, json_type_object) && COPY(object, "uuid", ret->uuid) &&
	       *ret->uuid && COPY(object, "name", ret->name) && COPY(object, "dev", ret->dev) &&
	       COPY(object, "time", ret->time);
}

static bool read_all(const json_object *root, void *into)
{
	struct pm_pins *pins = into;
	json_object *list;
	uint64_t version;
	size_t n;

	if (pm_json_u64(root, "version", &version) || version != VERSION ||
		!json_object_object_get_ex(root, "pins", &list) ||
		!json_object_is_type(list, json_type_array))
		return false;
	n = json_object_array_length(list);
	pins->list = calloc(n + 1, sizeof(*pins->list));
	if (!pins->list)
		return false;
	for (; pins->n < n; pins->n++)
		if (!read_pin(json_object_array_get_idx(list, pins->n), &pins->list[pins->n]))
			return false;
	return true;
}

int pm_pins_read(const char *path, struct pm_pins *ret, struct pm_err *err)
{
	cleanup_with(pm_pins_done) struct pm_pins pins = {0};
	int rc = pm_json_file_read(path, "a list of pins", read_all, &pins, err);

	if (rc)
		return rc;
	*ret = pins;
	pins = (struct pm_pins){0};
	return 0;
}

static json_object *format_pin(const struct pm_pin *pin)
{
	json_object *object = json_object_new_object();

	pm_json_add_string(object, "uuid", pin->uuid);
	pm_json_add_string(object, "name", pin->name);
	pm_json_add_string(object, "dev", pin->dev);
	pm_json_add_string(object, "time", pin->time);
	return object;
}

int pm_pins_write(const char *path, const struct pm_pins *pins, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();
	json_object *list = json_object_new_array();
	cleanup_free char *text = NULL;

	pm_json_add_u64(root, "version", VERSION);
	for (size_t i = 0; i < pins->n; i++)
		json_object_array_add(list, format_pin(&pins->list[i]));
	json_object_object_add(root, "pins", list);
	text = pm_json_format(root);
	return text ? pm_file_write(path, 0644, text, strlen(text), err) : pm_err_nomem(err);
}

const struct pm_pin *pm_pins_find(const struct pm_pins *pins, const char *uuid)
{
	for (size_t i = 0; *uuid && i < pins->n; i++)
		if (!strcmp(pins->list[i].uuid, uuid))
			return &pins->list[i];
	return NULL;
}

int pm_pins_add(struct pm_pins *pins, const struct pm_namespace *nd, struct pm_err *err)
{
	struct pm_pin *grown;

	if (!*nd->uuid)
		return pm_err_set(err, -EINVAL,
			"%s has no UUID, so it could not be found again; only namespaces with "
			"labels can be pinned",
			nd->dev);
	if (pm_pins_find(pins, nd->uuid))
		return pm_err_set(err, -EEXIST, "%s is pinned already", nd->dev);
	grown = realloc(pins->list, (pins->n + 1) * sizeof(*grown));
	if (!grown)
		return pm_err_nomem(err);
	pins->list = grown;
	grown[pins->n] = (struct pm_pin){0};
	strcpy(grown[pins->n].uuid, nd->uuid);
	strcpy(grown[pins->n].name, nd->name);
	strcpy(grown[pins->n].dev, nd->dev);
	pm_timestamp(grown[pins->n].time);
	pins->n++;
	return 0;
}

static bool is_called(const struct pm_pin *pin, const char *name)
{
	return !strcmp(pin->uuid, name) || !strcmp(pin->dev, name) || !strcmp(pin->name, name);
}

int pm_pins_remove(struct pm_pins *pins, const char *name, struct pm_err *err)
{
	size_t at = pins->n;

	for (size_t i = 0; *name && i < pins->n; i++) {
		if (!is_called(&pins->list[i], name))
			continue;
		if (at < pins->n)
			return pm_err_set(err, -EINVAL,
				"several pins are called '%.100s'; name one by its UUID, see "
				"'pmctl pin --list'",
				name);
		at = i;
	}
	if (at == pins->n)
		return pm_err_set(err, -ENOENT,
			"nothing called '%.100s' is pinned, see 'pmctl "
			"pin --list'",
			name);
	pins->n--;
	memmove(&pins->list[at], &pins->list[at + 1], (pins->n - at) * sizeof(*pins->list));
	return 0;
}

void pm_pins_done(struct pm_pins *pins)
{
	free(pins->list);
	*pins = (struct pm_pins){0};
}
