/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/counters.h"

#include <errno.h>

#include "base/asprintf.h"
#include "base/cleanup.h"

static const struct pm_field fields[] = {
	{"changes_done", PM_FIELD_U64, PM_FIELD(struct pm_counters, done)},
	{"changes_failed", PM_FIELD_U64, PM_FIELD(struct pm_counters, failed)},
	{"changes_undone", PM_FIELD_U64, PM_FIELD(struct pm_counters, undone)},
	{"wipes", PM_FIELD_U64, PM_FIELD(struct pm_counters, wipes)},
	{"failed_wipes", PM_FIELD_U64, PM_FIELD(struct pm_counters, failed_wipes)},
	{"wiped_bytes", PM_FIELD_U64, PM_FIELD(struct pm_counters, wiped_bytes)},
	{"wipe_ms", PM_FIELD_U64, PM_FIELD(struct pm_counters, wipe_ms)},
	{0},
};

const struct pm_store pm_counters_store = {
	.what = "a list of counters",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.is_ours = true,
	.size = sizeof(struct pm_counters),
	.fields = fields,
};

static char *path_of(const struct pm_config *config)
{
	return pm_asprintf("%s/counters.json", config->state_dir);
}

int pm_counters_read(const struct pm_config *config, struct pm_counters *ret, struct pm_err *err)
{
	cleanup_free char *path = path_of(config);

	return path ? pm_store_read(&pm_counters_store, path, ret, err) : pm_err_nomem(err);
}

static void write_all(const struct pm_config *config, const struct pm_counters *counters)
{
	cleanup_free char *path = path_of(config);

	if (path)
		(void)pm_store_write(&pm_counters_store, path, counters, NULL);
}

/* False: the counts so far are not known, and must not be replaced. */
static bool begin(const struct pm_config *config, struct pm_counters *ret)
{
	int rc;

	*ret = (struct pm_counters){0};
	rc = pm_counters_read(config, ret, NULL);
	return !rc || rc == -EBADMSG;
}

void pm_counters_add_change(const struct pm_config *config, enum pm_journal_state state)
{
	struct pm_counters counters;

	if (!begin(config, &counters))
		return;
	if (state == PM_JOURNAL_DONE)
		counters.done++;
	else if (state == PM_JOURNAL_FAILED)
		counters.failed++;
	else if (state == PM_JOURNAL_UNDONE)
		counters.undone++;
	else
		return;
	write_all(config, &counters);
}

void pm_counters_add_wipes(const struct pm_config *config, const struct pm_counters *more)
{
	struct pm_counters counters;

	if (!begin(config, &counters))
		return;
	counters.wipes += more->wipes;
	counters.failed_wipes += more->failed_wipes;
	counters.wiped_bytes += more->wiped_bytes;
	counters.wipe_ms += more->wipe_ms;
	write_all(config, &counters);
}
