/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/pins.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/store.h"
#include "base/timestamp.h"
#include "node/tools/tool_json.h"

#define COPY(object_, key_, to_) pm_tool_json_copy(object_, key_, to_, sizeof(to_))

static bool read_pin(const json_object *object, void *into)
{
	struct pm_pins *pins = into;
	struct pm_pin *pin = pm_list_next(&pins->list, pins->n, sizeof(*pin));

	pins->n += pin != NULL;
	return pin && COPY(object, "uuid", pin->uuid) && *pin->uuid &&
	       COPY(object, "name", pin->name) && COPY(object, "dev", pin->dev) &&
	       COPY(object, "time", pin->time);
}

static bool read_all(const json_object *root, void *pins)
{
	return pm_json_each(root, "pins", json_type_object, read_pin, pins);
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

static void format(const void *from, json_object *root)
{
	const struct pm_pins *pins = from;
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < pins->n; i++)
		json_object_array_add(list, format_pin(&pins->list[i]));
	json_object_object_add(root, "pins", list);
}

static void release(void *pins)
{
	pm_pins_done(pins);
}

static const struct pm_store store = {
	.what = "a list of pins",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.size = sizeof(struct pm_pins),
	.read = read_all,
	.done = release,
	.format = format,
};

int pm_pins_read(const char *path, struct pm_pins *ret, struct pm_err *err)
{
	return pm_store_read(&store, path, ret, err);
}

int pm_pins_write(const char *path, const struct pm_pins *pins, struct pm_err *err)
{
	return pm_store_write(&store, path, pins, err);
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
	struct pm_pin *pin;

	if (!*nd->uuid)
		return pm_err_set(err, -EINVAL,
			"%s has no UUID, so it could not be found again; only namespaces with "
			"labels can be pinned",
			nd->dev);
	if (pm_pins_find(pins, nd->uuid))
		return pm_err_set(err, -EEXIST, "%s is pinned already", nd->dev);
	pin = pm_list_next(&pins->list, pins->n, sizeof(*pin));
	if (!pin)
		return pm_err_nomem(err);
	strcpy(pin->uuid, nd->uuid);
	strcpy(pin->name, nd->name);
	strcpy(pin->dev, nd->dev);
	pm_timestamp(pin->time);
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
