/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/history.h"

#include <errno.h>
#include <string.h>

#include "base/list.h"
#include "base/timestamp.h"

static const struct pm_field entry_fields[] = {
	{"start", PM_FIELD_TEXT, PM_FIELD(struct pm_history_entry, start), .filled = true},
	{"end", PM_FIELD_TEXT, PM_FIELD(struct pm_history_entry, end), .filled = true},
	{"seconds", PM_FIELD_U64, PM_FIELD(struct pm_history_entry, seconds)},
	{"boot_id", PM_FIELD_TEXT, PM_FIELD(struct pm_history_entry, boot_id), .filled = true},
	{"from", PM_FIELD_NAME, PM_FIELD(struct pm_history_entry, from), .name = pm_mode_name,
		.last = PM_MODE_MAX - 1},
	{"mode", PM_FIELD_NAME, PM_FIELD(struct pm_history_entry, mode), .name = pm_mode_name,
		.first = PM_MODE_UNKNOWN + 1, .last = PM_MODE_MAX - 1},
	{"ordered_by", PM_FIELD_FLAG, PM_FIELD(struct pm_history_entry, for_job), .flag = "job"},
	{"outcome", PM_FIELD_NAME, PM_FIELD(struct pm_history_entry, outcome),
		.name = pm_journal_state_name, .first = PM_JOURNAL_DONE, .last = PM_JOURNAL_UNDONE},
	{"reason", PM_FIELD_STRING, PM_FIELD(struct pm_history_entry, reason), .optional = true},
	{0},
};

static const struct pm_field fields[] = {
	{"changes", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_history, list, n),
		.entry = entry_fields},
	{0},
};

const struct pm_store pm_history_store = {
	.what = "a history of changes",
	.version = 1,
	.mode = 0644,
	/* PM_HISTORY_MAX reasons of PM_ERR_TEXT_MAX, each letter of two bytes in JSON. */
	.max_bytes = 1024 * 1024,
	.starts_empty = true,
	.is_ours = true,
	.size = sizeof(struct pm_history),
	.fields = fields,
};

bool pm_history_is_end(enum pm_journal_state state)
{
	return state == PM_JOURNAL_DONE || state == PM_JOURNAL_FAILED || state == PM_JOURNAL_UNDONE;
}

static bool is_same(const struct pm_history_entry *entry, const struct pm_journal *journal)
{
	return !strcmp(entry->boot_id, journal->boot_id) &&
	       !strcmp(entry->start, journal->steps[0].time);
}

static uint64_t seconds_between(const char *start, const char *end)
{
	double from, to;

	if (!pm_timestamp_read(start, &from) || !pm_timestamp_read(end, &to) || to < from)
		return 0;
	return (uint64_t)(to - from);
}

static void fill(struct pm_history_entry *entry, const struct pm_journal *journal, char *reason)
{
	free(entry->reason);
	*entry = (struct pm_history_entry){.mode = journal->mode,
		.from = journal->from,
		.for_job = journal->for_job,
		.outcome = journal->state,
		.reason = reason};
	strcpy(entry->boot_id, journal->boot_id);
	strcpy(entry->start, journal->steps[0].time);
	strcpy(entry->end, journal->steps[journal->n_steps - 1].time);
	entry->seconds = seconds_between(entry->start, entry->end);
}

static void drop_oldest(struct pm_history *history)
{
	size_t over = history->n < PM_HISTORY_MAX ? 0 : history->n - (PM_HISTORY_MAX - 1);

	for (size_t i = 0; i < over; i++)
		free(history->list[i].reason);
	history->n -= over;
	if (over)
		memmove(history->list, history->list + over, history->n * sizeof(*history->list));
}

/* The entry of this change, or a new one; NULL: out of memory. */
static struct pm_history_entry *entry_of(
	struct pm_history *history, const struct pm_journal *journal)
{
	struct pm_history_entry *entry;

	for (size_t i = 0; i < history->n; i++)
		if (is_same(&history->list[i], journal))
			return &history->list[i];
	drop_oldest(history);
	entry = pm_list_next(&history->list, history->n, sizeof(*entry));
	if (entry)
		history->n++;
	return entry;
}

int pm_history_add(struct pm_history *history, const struct pm_journal *journal, struct pm_err *err)
{
	char *reason = journal->reason ? strdup(journal->reason) : NULL;
	struct pm_history_entry *entry =
		journal->reason && !reason ? NULL : entry_of(history, journal);

	if (!entry) {
		free(reason);
		return pm_err_nomem(err);
	}
	fill(entry, journal, reason);
	return 0;
}

char *pm_history_format(const struct pm_history *history)
{
	return pm_store_format(&pm_history_store, history);
}

void pm_history_done(struct pm_history *history)
{
	pm_fields_done(fields, history);
}
