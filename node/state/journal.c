/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/state/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/store.h"
#include "base/timestamp.h"

#define BY_JOB "job"

static const char *const state_names[PM_JOURNAL_STATE_MAX] = {
	[PM_JOURNAL_NONE] = "none",
	[PM_JOURNAL_INTENT] = "intent",
	[PM_JOURNAL_STAGED] = "staged",
	[PM_JOURNAL_REBOOTING] = "rebooting",
	[PM_JOURNAL_DONE] = "done",
	[PM_JOURNAL_FAILED] = "failed",
	[PM_JOURNAL_UNDONE] = "undone",
	[PM_JOURNAL_CLEARED] = "cleared",
};

const char *pm_journal_state_name(enum pm_journal_state state)
{
	return (unsigned)state < PM_JOURNAL_STATE_MAX ? state_names[state] : "none";
}

bool pm_journal_is_open(const struct pm_journal *journal)
{
	return journal->state == PM_JOURNAL_INTENT || journal->state == PM_JOURNAL_STAGED ||
	       journal->state == PM_JOURNAL_REBOOTING;
}

/* No file has the state "none". */
static bool state_by_name(const char *name, enum pm_journal_state *ret)
{
	for (int i = PM_JOURNAL_INTENT; name && i < PM_JOURNAL_STATE_MAX; i++) {
		if (!strcmp(state_names[i], name)) {
			*ret = (enum pm_journal_state)i;
			return true;
		}
	}
	return false;
}

static bool read_mode(const json_object *object, const char *key, enum pm_mode *ret)
{
	const char *name = pm_json_string(object, key);
	const struct pm_mode_info *row = pm_mode_by_name(name);

	*ret = row ? row->mode : PM_MODE_UNKNOWN;
	return row || (name && !strcmp(name, pm_mode_name(PM_MODE_UNKNOWN)));
}

static bool read_step(const json_object *object, void *into)
{
	struct pm_journal *journal = into;
	struct pm_journal_step *step =
		pm_list_next(&journal->steps, journal->n_steps, sizeof(*step));
	const char *text = pm_json_string(object, "text");

	if (!step || !text)
		return false;
	journal->n_steps++;
	step->text = strdup(text);
	return step->text && pm_json_copy_filled(object, "time", step->time, sizeof(step->time)) &&
	       pm_json_copy_filled(object, "boot_id", step->boot_id, sizeof(step->boot_id)) &&
	       state_by_name(pm_json_string(object, "state"), &step->state);
}

/* A journal of before has neither: an administrator's. */
static bool read_order(const json_object *root, struct pm_journal *journal)
{
	const char *by = pm_json_string(root, "ordered_by");

	journal->for_job = by && !strcmp(by, BY_JOB);
	return !journal->for_job || !pm_json_u64(root, "ordered_s", &journal->ordered_s);
}

/* Consistent with itself: the last step is the state. */
static bool read_object(const json_object *root, void *into)
{
	struct pm_journal *journal = into;
	const char *reason = pm_json_string(root, "reason");

	journal->reason = reason ? strdup(reason) : NULL;
	return state_by_name(pm_json_string(root, "state"), &journal->state) &&
	       read_mode(root, "mode", &journal->mode) && journal->mode &&
	       read_mode(root, "from", &journal->from) &&
	       pm_json_copy_filled(root, "boot_id", journal->boot_id, sizeof(journal->boot_id)) &&
	       read_order(root, journal) &&
	       pm_json_each(root, "steps", json_type_object, read_step, journal) &&
	       journal->n_steps && journal->steps[journal->n_steps - 1].state == journal->state;
}

static int add_step(struct pm_journal *journal, enum pm_journal_state state, const char *boot_id,
	const char *text)
{
	struct pm_journal_step *step =
		pm_list_next(&journal->steps, journal->n_steps, sizeof(*step));

	if (!step)
		return -ENOMEM;
	step->state = state;
	step->text = strdup(text);
	if (!step->text)
		return -ENOMEM;
	pm_timestamp(step->time);
	snprintf(step->boot_id, sizeof(step->boot_id), "%s", boot_id);
	journal->n_steps++;
	return 0;
}

int pm_journal_step(struct pm_journal *journal, enum pm_journal_state state, const char *boot_id,
	const char *text, struct pm_err *err)
{
	bool has_reason = state == PM_JOURNAL_FAILED || state == PM_JOURNAL_UNDONE;
	char *reason = has_reason ? strdup(text) : NULL;

	if ((has_reason && !reason) || add_step(journal, state, boot_id, text)) {
		free(reason);
		return pm_err_nomem(err);
	}
	free(journal->reason);
	journal->reason = reason;
	journal->state = state;
	return 0;
}

uint64_t pm_journal_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec;
}

void pm_journal_order(struct pm_journal *journal, bool for_job)
{
	journal->for_job = for_job;
	journal->ordered_s = pm_journal_clock();
}

int pm_journal_begin(struct pm_journal *journal, enum pm_mode mode, enum pm_mode from,
	const char *boot_id, struct pm_err *err)
{
	char text[128];

	pm_journal_done(journal);
	journal->mode = mode;
	journal->from = from;
	snprintf(journal->boot_id, sizeof(journal->boot_id), "%s", boot_id);
	snprintf(
		text, sizeof(text), "change from %s to %s", pm_mode_name(from), pm_mode_name(mode));
	return pm_journal_step(journal, PM_JOURNAL_INTENT, boot_id, text, err);
}

static json_object *format_step(const struct pm_journal_step *step)
{
	json_object *object = json_object_new_object();

	pm_json_add_string(object, "time", step->time);
	pm_json_add_string(object, "boot_id", step->boot_id);
	pm_json_add_string(object, "state", pm_journal_state_name(step->state));
	pm_json_add_string(object, "text", step->text);
	return object;
}

static void format(const void *from, json_object *root)
{
	const struct pm_journal *journal = from;
	json_object *steps = json_object_new_array();

	pm_json_add_string(root, "state", pm_journal_state_name(journal->state));
	pm_json_add_string(root, "mode", pm_mode_name(journal->mode));
	pm_json_add_string(root, "from", pm_mode_name(journal->from));
	pm_json_add_string(root, "boot_id", journal->boot_id);
	pm_json_add_string(root, "reason", journal->reason);
	if (journal->for_job) {
		pm_json_add_string(root, "ordered_by", BY_JOB);
		pm_json_add_u64(root, "ordered_s", journal->ordered_s);
	}
	for (size_t i = 0; i < journal->n_steps; i++)
		json_object_array_add(steps, format_step(&journal->steps[i]));
	json_object_object_add(root, "steps", steps);
}

static void release(void *journal)
{
	pm_journal_done(journal);
}

static const struct pm_store store = {
	.what = "a journal",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.size = sizeof(struct pm_journal),
	.read = read_object,
	.done = release,
	.format = format,
};

int pm_journal_read(const char *path, struct pm_journal *ret, struct pm_err *err)
{
	return pm_store_read(&store, path, ret, err);
}

int pm_journal_write(const char *path, const struct pm_journal *journal, struct pm_err *err)
{
	return pm_store_write(&store, path, journal, err);
}

char *pm_journal_format(const struct pm_journal *journal)
{
	return pm_store_format(&store, journal);
}

void pm_journal_done(struct pm_journal *journal)
{
	for (size_t i = 0; i < journal->n_steps; i++)
		free(journal->steps[i].text);
	free(journal->steps);
	free(journal->reason);
	*journal = (struct pm_journal){0};
}
