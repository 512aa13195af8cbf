/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/os_journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/timestamp.h"

static const char *const states[] = {
	[PM_OS_NONE] = "none",
	[PM_OS_ACTING] = "acting",
	[PM_OS_DONE] = "done",
	[PM_OS_FAILED] = "failed",
};

static const char *state_name(enum pm_os_state state)
{
	return states[state];
}

void pm_os_journal_begin(
	struct pm_os_journal *journal, enum pm_substate wanted, const char *boot_id)
{
	struct pm_os_journal fresh = {.state = PM_OS_ACTING, .wanted = wanted};

	if (!strcmp(journal->boot_id, boot_id)) {
		strcpy(fresh.policy, journal->policy);
		fresh.demotion = journal->demotion;
	}
	snprintf(fresh.boot_id, sizeof(fresh.boot_id), "%s", boot_id);
	fresh.n_dirty = journal->n_dirty;
	fresh.dirty = pm_steal(journal->dirty);
	pm_os_journal_done(journal);
	*journal = fresh;
}

bool pm_os_journal_is_dirty(const struct pm_os_journal *journal, uint64_t iset_id)
{
	for (size_t i = 0; i < journal->n_dirty; i++)
		if (journal->dirty[i] == iset_id)
			return true;
	return false;
}

int pm_os_journal_mark(struct pm_os_journal *journal, uint64_t iset_id, struct pm_err *err)
{
	uint64_t *entry;

	if (pm_os_journal_is_dirty(journal, iset_id))
		return 0;
	entry = pm_list_next(&journal->dirty, journal->n_dirty, sizeof(*entry));
	if (!entry)
		return pm_err_nomem(err);
	*entry = iset_id;
	journal->n_dirty++;
	return 0;
}

void pm_os_journal_unmark(struct pm_os_journal *journal, uint64_t iset_id)
{
	size_t kept = 0;

	for (size_t i = 0; i < journal->n_dirty; i++)
		if (journal->dirty[i] != iset_id)
			journal->dirty[kept++] = journal->dirty[i];
	journal->n_dirty = kept;
}

int pm_os_journal_add(struct pm_os_journal *journal, const char *text, struct pm_err *err)
{
	struct pm_os_step *step = pm_list_next(&journal->steps, journal->n_steps, sizeof(*step));

	if (!step)
		return pm_err_nomem(err);
	step->text = strdup(text);
	if (!step->text)
		return pm_err_nomem(err);
	pm_timestamp(step->time);
	journal->n_steps++;
	return 0;
}

int pm_os_journal_end(struct pm_os_journal *journal, const char *reason, struct pm_err *err)
{
	char *copy = reason ? strdup(reason) : NULL;

	if (reason && !copy)
		return pm_err_nomem(err);
	free(journal->reason);
	journal->reason = copy;
	journal->state = reason ? PM_OS_FAILED : PM_OS_DONE;
	return 0;
}

static const struct pm_field step_fields[] = {
	{"time", PM_FIELD_TEXT, PM_FIELD(struct pm_os_step, time), .may_lack = true},
	{"text", PM_FIELD_STRING, PM_FIELD(struct pm_os_step, text)},
	{0},
};

static const struct pm_field fields[] = {
	{"state", PM_FIELD_NAME, PM_FIELD(struct pm_os_journal, state), .name = state_name,
		.first = PM_OS_ACTING, .last = PM_OS_FAILED},
	{"wanted", PM_FIELD_NAME, PM_FIELD(struct pm_os_journal, wanted), .name = pm_substate_name,
		.last = PM_SUBSTATE_FLAT},
	{"boot_id", PM_FIELD_TEXT, PM_FIELD(struct pm_os_journal, boot_id), .filled = true},
	{"policy", PM_FIELD_TEXT, PM_FIELD(struct pm_os_journal, policy), .optional = true},
	{"demotion", PM_FIELD_FLAG, PM_FIELD(struct pm_os_journal, demotion), .flag = "off"},
	{"reason", PM_FIELD_STRING, PM_FIELD(struct pm_os_journal, reason), .optional = true},
	{"dirty", PM_FIELD_NUMBERS, PM_FIELD_ENTRIES(struct pm_os_journal, dirty, n_dirty),
		.optional = true},
	{"steps", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_os_journal, steps, n_steps),
		.entry = step_fields},
	{0},
};

const struct pm_store pm_os_journal_store = {
	.what = "a journal of sub-states",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.is_ours = true,
	.size = sizeof(struct pm_os_journal),
	.fields = fields,
};

void pm_os_journal_done(struct pm_os_journal *journal)
{
	pm_fields_done(fields, journal);
}
