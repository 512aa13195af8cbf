/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/roster.h"

#include <string.h>

static const struct pm_field module_fields[] = {
	{"id", PM_FIELD_TEXT, PM_FIELD(struct pm_dimm, id), .filled = true},
	{"socket", PM_FIELD_TEXT, PM_FIELD(struct pm_dimm, socket), .filled = true},
	{"capacity_bytes", PM_FIELD_U64, PM_FIELD(struct pm_dimm, capacity_bytes)},
	{0},
};

static const struct pm_field fields[] = {
	{"modules", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_dimms, list, n),
		.entry = module_fields},
	{0},
};

const struct pm_store pm_roster_store = {
	.what = "a list of modules",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.is_ours = true,
	.size = sizeof(struct pm_dimms),
	.fields = fields,
};

static bool has(const struct pm_dimms *roster, const struct pm_dimm *dimm)
{
	for (size_t i = 0; i < roster->n; i++)
		if (!strcmp(roster->list[i].id, dimm->id) &&
			!strcmp(roster->list[i].socket, dimm->socket) &&
			roster->list[i].capacity_bytes == dimm->capacity_bytes)
			return true;
	return false;
}

bool pm_roster_equals(const struct pm_dimms *roster, const struct pm_dimms *dimms)
{
	if (roster->n != dimms->n)
		return false;
	for (size_t i = 0; i < dimms->n; i++)
		if (!has(roster, &dimms->list[i]))
			return false;
	return true;
}

static bool is_missing(const struct pm_dimm *known, const struct pm_dimms *dimms)
{
	for (size_t i = 0; i < dimms->n; i++)
		if (!strcmp(dimms->list[i].id, known->id))
			return false;
	return true;
}

const struct pm_dimm *pm_roster_missing(const struct pm_dimms *roster, const struct pm_dimms *dimms)
{
	for (size_t i = 0; i < roster->n; i++)
		if (is_missing(&roster->list[i], dimms))
			return &roster->list[i];
	return NULL;
}

size_t pm_roster_count_missing(const struct pm_dimms *roster, const struct pm_dimms *dimms)
{
	size_t n = 0;

	for (size_t i = 0; i < roster->n; i++)
		n += is_missing(&roster->list[i], dimms);
	return n;
}
