/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/os_journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/store.h"
#include "base/timestamp.h"
#include "node/tools/tool_json.h"

#define COPY(object_, key_, to_) pm_tool_json_copy(object_, key_, to_, sizeof(to_))

static const char *const states[] = {
	[PM_OS_NONE] = "none",
	[PM_OS_ACTING] = "acting",
	[PM_OS_DONE] = "done",
	[PM_OS_FAILED] = "failed",
};

const char *pm_os_state_name(enum pm_os_state state)
{
	return states[state];
}

static bool read_state(const json_object *root, enum pm_os_state *ret)
{
	for (int i = PM_OS_ACTING; i <= PM_OS_FAILED; i++) {
		if (!pm_tool_json_is(root, "state", states[i]))
			continue;
		*ret = (enum pm_os_state)i;
		return true;
	}
	return false;
}

static bool read_wanted(const json_object *root, enum pm_substate *ret)
{
	for (int i = PM_SUBSTATE_EMPTY; i <= PM_SUBSTATE_FLAT; i++) {
		if (!pm_tool_json_is(root, "wanted", pm_substate_name((enum pm_substate)i)))
			continue;
		*ret = (enum pm_substate)i;
		return true;
	}
	return false;
}

static bool read_step(const json_object *object, void *into)
{
	struct pm_os_journal *journal = into;
	struct pm_os_step *step = pm_list_next(&journal->steps, journal->n_steps, sizeof(*step));
	const char *text = pm_json_string(object, "text");

	if (!step || !text)
		return false;
	journal->n_steps++;
	step->text = strdup(text);
	return step->text && COPY(object, "time", step->time);
}

static bool read_dirty(const json_object *iset_id, void *journal)
{
	return !pm_os_journal_mark(journal, json_object_get_uint64(iset_id), NULL);
}

static bool read_object(const json_object *root, void *into)
{
	struct pm_os_journal *journal = into;
	const char *reason = pm_json_string(root, "reason");

	journal->reason = reason ? strdup(reason) : NULL;
	journal->demotion = pm_json_string(root, "demotion");
	return read_state(root, &journal->state) && read_wanted(root, &journal->wanted) &&
	       COPY(root, "boot_id", journal->boot_id) && *journal->boot_id &&
	       COPY(root, "policy", journal->policy) &&
	       pm_json_each(root, "steps", json_type_object, read_step, journal) &&
	       (!json_object_object_get_ex(root, "dirty", NULL) ||
		       pm_json_each(root, "dirty", json_type_int, read_dirty, journal));
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

static json_object *format_step(const struct pm_os_step *step)
{
	json_object *object = json_object_new_object();

	pm_json_add_string(object, "time", step->time);
	pm_json_add_string(object, "text", step->text);
	return object;
}

static void format(const void *from, json_object *root)
{
	const struct pm_os_journal *journal = from;
	json_object *steps = json_object_new_array(), *dirty = json_object_new_array();

	pm_json_add_string(root, "state", pm_os_state_name(journal->state));
	pm_json_add_string(root, "wanted", pm_substate_name(journal->wanted));
	pm_json_add_string(root, "boot_id", journal->boot_id);
	pm_json_add_string(root, "policy", *journal->policy ? journal->policy : NULL);
	pm_json_add_string(root, "demotion", journal->demotion ? "off" : NULL);
	pm_json_add_string(root, "reason", journal->reason);
	for (size_t i = 0; i < journal->n_dirty; i++)
		json_object_array_add(dirty, json_object_new_uint64(journal->dirty[i]));
	json_object_object_add(root, "dirty", dirty);
	for (size_t i = 0; i < journal->n_steps; i++)
		json_object_array_add(steps, format_step(&journal->steps[i]));
	json_object_object_add(root, "steps", steps);
}

static void release(void *journal)
{
	pm_os_journal_done(journal);
}

static const struct pm_store store = {
	.what = "a journal of sub-states",
	.version = 1,
	.mode = 0644,
	.max_bytes = PM_STORE_BYTES,
	.starts_empty = true,
	.size = sizeof(struct pm_os_journal),
	.read = read_object,
	.done = release,
	.format = format,
};

int pm_os_journal_read(const char *path, struct pm_os_journal *ret, struct pm_err *err)
{
	return pm_store_read(&store, path, ret, err);
}

int pm_os_journal_write(const char *path, const struct pm_os_journal *journal, struct pm_err *err)
{
	return pm_store_write(&store, path, journal, err);
}

void pm_os_journal_done(struct pm_os_journal *journal)
{
	for (size_t i = 0; i < journal->n_steps; i++)
		free(journal->steps[i].text);
	free(journal->steps);
	free(journal->reason);
	free(journal->dirty);
	*journal = (struct pm_os_journal){0};
}
