/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/state/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/timestamp.h"

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
	journal->ordered_s = for_job ? pm_journal_clock() : 0;
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

/* No file has the state "none". */
#define STATE .name = pm_journal_state_name, .first = PM_JOURNAL_INTENT, .last = PM_JOURNAL_CLEARED

static const struct pm_field step_fields[] = {
	{"time", PM_FIELD_TEXT, PM_FIELD(struct pm_journal_step, time), .filled = true},
	{"boot_id", PM_FIELD_TEXT, PM_FIELD(struct pm_journal_step, boot_id), .filled = true},
	{"state", PM_FIELD_NAME, PM_FIELD(struct pm_journal_step, state), STATE},
	{"text", PM_FIELD_STRING, PM_FIELD(struct pm_journal_step, text)},
	{0},
};

static const struct pm_field fields[] = {
	{"state", PM_FIELD_NAME, PM_FIELD(struct pm_journal, state), STATE},
	{"mode", PM_FIELD_NAME, PM_FIELD(struct pm_journal, mode), .name = pm_mode_name,
		.first = PM_MODE_UNKNOWN + 1, .last = PM_MODE_MAX - 1},
	{"from", PM_FIELD_NAME, PM_FIELD(struct pm_journal, from), .name = pm_mode_name,
		.last = PM_MODE_MAX - 1},
	{"boot_id", PM_FIELD_TEXT, PM_FIELD(struct pm_journal, boot_id), .filled = true},
	{"reason", PM_FIELD_STRING, PM_FIELD(struct pm_journal, reason), .optional = true},
	{"ordered_by", PM_FIELD_FLAG, PM_FIELD(struct pm_journal, for_job), .flag = "job"},
	{"ordered_s", PM_FIELD_U64, PM_FIELD(struct pm_journal, ordered_s), .optional = true,
		.with = "ordered_by"},
	{"steps", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_journal, steps, n_steps),
		.entry = step_fields},
	{0},
};

/* The last step has the journal's state. */
static bool fits(const void *value)
{
	const struct pm_journal *journal = value;
	size_t n = journal->n_steps;

	return n && journal->steps[n - 1].state == journal->state;
}

const struct pm_store pm_journal_store = {
	.what = "a journal",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.is_ours = true,
	.size = sizeof(struct pm_journal),
	.fields = fields,
	.fits = fits,
};

char *pm_journal_format(const struct pm_journal *journal)
{
	return pm_store_format(&pm_journal_store, journal);
}

void pm_journal_done(struct pm_journal *journal)
{
	pm_fields_done(fields, journal);
}
