/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/pins.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/timestamp.h"

static const struct pm_field pin_fields[] = {
	{"uuid", PM_FIELD_TEXT, PM_FIELD(struct pm_pin, uuid), .filled = true},
	{"name", PM_FIELD_TEXT, PM_FIELD(struct pm_pin, name), .may_lack = true},
	{"dev", PM_FIELD_TEXT, PM_FIELD(struct pm_pin, dev), .may_lack = true},
	{"time", PM_FIELD_TEXT, PM_FIELD(struct pm_pin, time), .may_lack = true},
	{0},
};

static const struct pm_field fields[] = {
	{"pins", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_pins, list, n), .entry = pin_fields},
	{0},
};

const struct pm_store pm_pins_store = {
	.what = "a list of pins",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.is_ours = true,
	.size = sizeof(struct pm_pins),
	.fields = fields,
};

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
	pm_fields_done(fields, pins);
}
