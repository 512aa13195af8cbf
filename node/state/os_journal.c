/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/os_journal.h"

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

static bool read_step(const json_object *object, struct pm_os_step *ret)
{
	const char *text = pm_json_string(object, "text");

	ret->text = text ? strdup(text) : NULL;
	return ret->text && COPY(object, "time", ret->time);
}

static bool read_steps(const json_object *root, struct pm_os_journal *journal)
{
	json_object *list;
	size_t n;

	if (!json_object_object_get_ex(root, "steps", &list) ||
		!json_object_is_type(list, json_type_array))
		return false;
	n = json_object_array_length(list);
	journal->steps = calloc(n + 1, sizeof(*journal->steps));
	if (!journal->steps)
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_object *step = json_object_array_get_idx(list, i);

		journal->n_steps++;
		if (!json_object_is_type(step, json_type_object) ||
			!read_step(step, &journal->steps[i]))
			return false;
	}
	return true;
}

static bool read_dirty(const json_object *root, struct pm_os_journal *journal)
{
	json_object *list;

	if (!json_object_object_get_ex(root, "dirty", &list))
		return true;
	if (!json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const json_object *one = json_object_array_get_idx(list, i);

		if (!json_object_is_type(one, json_type_int) ||
			pm_os_journal_mark(journal, json_object_get_uint64(one), NULL))
			return false;
	}
	return true;
}

static bool read_object(const json_object *root, void *into)
{
	struct pm_os_journal *journal = into;
	const char *reason;
	uint64_t version;

	if (pm_json_u64(root, "version", &version) || version != VERSION)
		return false;
	reason = pm_json_string(root, "reason");
	journal->reason = reason ? strdup(reason) : NULL;
	journal->demotion = pm_json_string(root, "demotion");
	return read_state(root, &journal->state) && read_wanted(root, &journal->wanted) &&
	       COPY(root, "boot_id", journal->boot_id) && *journal->boot_id &&
	       COPY(root, "policy", journal->policy) && read_steps(root, journal) &&
	       read_dirty(root, journal);
}

int pm_os_journal_read(const char *path, struct pm_os_journal *ret, struct pm_err *err)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};
	int rc = pm_json_file_read(path, "a journal of sub-states", read_object, &journal, err);

	if (rc)
		return rc;
	*ret = journal;
	journal = (struct pm_os_journal){0};
	return 0;
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
	uint64_t *grown;

	if (pm_os_journal_is_dirty(journal, iset_id))
		return 0;
	grown = realloc(journal->dirty, (journal->n_dirty + 1) * sizeof(*grown));
	if (!grown)
		return pm_err_nomem(err);
	journal->dirty = grown;
	grown[journal->n_dirty++] = iset_id;
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
	struct pm_os_step *grown = realloc(journal->steps, (journal->n_steps + 1) * sizeof(*grown));
	struct pm_os_step *step;

	if (!grown)
		return pm_err_nomem(err);
	journal->steps = grown;
	step = &grown[journal->n_steps];
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

static char *format(const struct pm_os_journal *journal)
{
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();
	json_object *steps = json_object_new_array(), *dirty = json_object_new_array();

	pm_json_add_u64(root, "version", VERSION);
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
	return pm_json_format(root);
}

int pm_os_journal_write(const char *path, const struct pm_os_journal *journal, struct pm_err *err)
{
	cleanup_free char *text = format(journal);

	return text ? pm_file_write(path, 0644, text, strlen(text), err) : pm_err_nomem(err);
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
