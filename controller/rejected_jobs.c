/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/rejected_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/store.h"
#include "controller/candidates.h"
#include "controller/state_file.h"

/* Bytes of a sentence in AdminComment, which Slurm limits to 1 KiB. */
#define MAX_SENTENCE 900

/* Room for PM_REJECTED_JOBS_MAX jobs with six sentences of that length. */
#define MAX_BYTES (64 * 1024 * 1024)

struct key {
	char text[16];
};

static struct key key_of(uint32_t job_id)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "%u", (unsigned)job_id);
	return key;
}

static const struct pm_field fields[] = {
	{"jobs", PM_FIELD_OBJECT, .offset = 0},
	{0},
};

static const struct pm_store store = {
	.what = "a list of jobs",
	.version = 1,
	.mode = 0600,
	.max_bytes = MAX_BYTES,
	.starts_empty = true,
	.size = sizeof(json_object *),
	.fields = fields,
};

int pm_rejected_open(struct pm_rejected_jobs *rejected, const char *path, struct pm_err *err)
{
	pm_state_file_read(&store, path, &rejected->jobs);
	if (!rejected->jobs)
		rejected->jobs = json_object_new_object();
	rejected->path = strdup(path);
	return rejected->jobs && rejected->path ? 0 : pm_err_nomem(err);
}

static int save(const struct pm_rejected_jobs *rejected, struct pm_err *err)
{
	return pm_state_file_write(&store, rejected->path, &rejected->jobs, err);
}

/*
 * True if the entry is of this job and not of an earlier one with the same id: the same user, and
 * no more restarts than the job has. The time of submission does not identify a job: Slurm sets it
 * anew at each requeue.
 */
static bool is_same_job(const json_object *entry, const slurm_job_info_t *job)
{
	uint64_t uid, restarts;
	json_object *nodes;

	return !pm_json_u64(entry, "uid", &uid) && !pm_json_u64(entry, "restarts", &restarts) &&
	       uid == job->user_id && restarts <= job->restart_cnt &&
	       pm_json_string(entry, "excluded") &&
	       json_object_object_get_ex(entry, "nodes", &nodes) &&
	       json_object_is_type(nodes, json_type_object);
}

static const char *excluded_nodes(const slurm_job_info_t *job)
{
	return job->exc_nodes ? job->exc_nodes : "";
}

static json_object *new_entry(const slurm_job_info_t *job)
{
	json_object *entry = json_object_new_object();

	pm_json_add_u64(entry, "uid", job->user_id);
	pm_json_add_string(entry, "excluded", excluded_nodes(job));
	pm_json_add_u64(entry, "restarts", job->restart_cnt);
	json_object_object_add(entry, "nodes", json_object_new_object());
	return entry;
}

static json_object *find(const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	struct key key = key_of(job->job_id);
	json_object *entry = NULL;

	return json_object_object_get_ex(rejected->jobs, key.text, &entry) &&
			       is_same_job(entry, job)
		       ? entry
		       : NULL;
}

static bool is_held(const json_object *entry)
{
	return pm_json_number(entry, "held") > 0;
}

static json_object *find_or_add(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	struct key key = key_of(job->job_id);
	json_object *entry = find(rejected, job);

	if (entry && !is_held(entry))
		return entry;
	if (!json_object_object_get_ex(rejected->jobs, key.text, NULL) &&
		json_object_object_length(rejected->jobs) >= PM_REJECTED_JOBS_MAX)
		return NULL;
	entry = new_entry(job);
	json_object_object_add(rejected->jobs, key.text, entry);
	return entry;
}

/* PM_REJECTED_HELD "(n1: sentence; n2: sentence); ...", malloc'ed; NULL when out of memory. */
static char *hold_sentence(uint32_t job_id, json_object *nodes)
{
	char *text = NULL, *cut;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	const char *between = "";

	if (!out)
		return NULL;
	fprintf(out, PM_REJECTED_HELD " (");
	json_object_object_foreach(nodes, node, sentence)
	{
		fprintf(out, "%s%s: %s", between, node, json_object_get_string(sentence));
		between = "; ";
	}
	fclose(out);
	if (text && length > MAX_SENTENCE)
		strcpy(text + MAX_SENTENCE, "...");
	cut = text ? pm_asprintf("%s); mend it and 'scontrol release %u'", text, job_id) : NULL;
	free(text);
	return cut;
}

/* The user's own list and the nodes, "user,n1,n2"; malloc'ed, NULL when out of memory. */
static char *extended_list(const char *excluded, json_object *nodes)
{
	char *list = strdup(excluded);

	json_object_object_foreach(nodes, node, sentence)
	{
		char *longer = list ? pm_asprintf("%s%s%s", list, *list ? "," : "", node) : NULL;

		(void)sentence;
		free(list);
		list = longer;
	}
	return list;
}

static bool is_excluded(const json_object *entry, const slurm_job_info_t *job)
{
	const char *made = pm_json_string(entry, "made");

	return made && !strcmp(made, excluded_nodes(job));
}

/*
 * If the list is not the one that a verdict made, the user has changed it: all of it is the user's.
 */
static void keep_users_list(json_object *entry, const slurm_job_info_t *job)
{
	if (!is_excluded(entry, job))
		pm_json_add_string(entry, "excluded", excluded_nodes(job));
}

static int judge(const struct pm_cluster *cluster, const slurm_job_info_t *job, json_object *entry,
	unsigned limit, struct pm_rejection_verdict *ret)
{
	const char *excluded = pm_json_string(entry, "excluded");
	json_object *nodes = json_object_object_get(entry, "nodes");
	unsigned distinct = (unsigned)json_object_object_length(nodes);
	cleanup_free char *more = extended_list(excluded, nodes);
	bool has_others;

	if (!more)
		return -ENOMEM;
	has_others = pm_candidates_count(cluster, job, more, /* modes_only= */ false).in_service >=
		     pm_candidates_needed(job);
	if (distinct >= limit || ((!has_others || pm_json_number(entry, "given_back")) &&
					 pm_json_number(entry, "times") >= limit))
		ret->sentence = hold_sentence(job->job_id, nodes);
	json_object_object_del(entry, "made");
	if (has_others && !ret->sentence)
		pm_json_add_string(entry, "made", more);
	ret->excluded = has_others && !ret->sentence ? pm_steal(more) : strdup(excluded);
	return ret->excluded ? 0 : -ENOMEM;
}

int pm_rejected_add(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *node, const char *sentence, unsigned limit,
	struct pm_rejection_verdict *ret, struct pm_err *err)
{
	json_object *entry = find_or_add(rejected, job);

	if (!entry)
		return pm_err_set(err, -ENOSPC, "too many jobs were turned away");
	keep_users_list(entry, job);
	pm_json_add_u64(entry, "times", pm_json_number(entry, "times") + 1);
	pm_json_add_u64(entry, "restarts", job->restart_cnt);
	json_object_object_del(entry, "idle_since");
	pm_json_add_string(json_object_object_get(entry, "nodes"), node, sentence);
	if (judge(cluster, job, entry, limit, ret))
		return pm_err_nomem(err);
	return save(rejected, err);
}

void pm_rejection_verdict_done(struct pm_rejection_verdict *verdict)
{
	free(verdict->sentence);
	free(verdict->excluded);
}

bool pm_rejected_has_exclusions(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	const json_object *entry = find(rejected, job);

	return entry && is_excluded(entry, job);
}

int pm_rejected_begin_reinstatement(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job,
	char **ret_excluded, struct pm_err *err)
{
	json_object *entry = find(rejected, job);
	int rc;

	pm_json_add_u64(entry, "given_back", pm_json_number(entry, "given_back") + 1);
	json_object_object_del(entry, "idle_since");
	rc = save(rejected, err);
	if (rc)
		return rc;
	*ret_excluded = strdup(pm_json_string(entry, "excluded"));
	return *ret_excluded ? 0 : pm_err_nomem(err);
}

static void save_or_log(const struct pm_rejected_jobs *rejected)
{
	struct pm_err err = {0};

	if (save(rejected, &err))
		fprintf(stderr, "%s\n", err.text);
}

void pm_rejected_end_reinstatement(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	json_object *entry = find(rejected, job);

	if (!entry)
		return;
	json_object_object_del(entry, "made");
	save_or_log(rejected);
}

uint64_t pm_rejected_idle_since(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	const json_object *entry = find(rejected, job);

	return entry ? pm_json_number(entry, "idle_since") : 0;
}

void pm_rejected_set_idle_since(
	struct pm_rejected_jobs *rejected, const slurm_job_info_t *job, uint64_t since)
{
	json_object *entry = find(rejected, job);

	if (!entry)
		return;
	if (since)
		pm_json_add_u64(entry, "idle_since", since);
	else
		json_object_object_del(entry, "idle_since");
	save_or_log(rejected);
}

void pm_rejected_set_held(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	json_object *entry = find(rejected, job);

	if (!entry)
		return;
	pm_json_add_u64(entry, "held", 1);
	save_or_log(rejected);
}

bool pm_rejected_is_held(const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	const json_object *entry = find(rejected, job);

	return entry && is_held(entry);
}

bool pm_rejected_by(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job, const char *node)
{
	const json_object *entry = find(rejected, job);

	return entry &&
	       json_object_object_get_ex(json_object_object_get(entry, "nodes"), node, NULL);
}

void pm_rejected_forget(struct pm_rejected_jobs *rejected, uint32_t job_id)
{
	struct key key = key_of(job_id);

	json_object_object_del(rejected->jobs, key.text);
	save_or_log(rejected);
}

void pm_rejected_sweep(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster)
{
	bool changed = false;
	json_object *kept = json_object_new_object();

	json_object_object_foreach(rejected->jobs, id, entry)
	{
		const slurm_job_info_t *job =
			pm_cluster_job(cluster, (uint32_t)strtoul(id, NULL, 10));

		if (job && (job->job_state & JOB_STATE_BASE) <= JOB_SUSPENDED)
			json_object_object_add(kept, id, json_object_get(entry));
		else
			changed = true;
	}
	json_object_put(rejected->jobs);
	rejected->jobs = kept;
	if (changed)
		save_or_log(rejected);
}

void pm_rejected_done(struct pm_rejected_jobs *rejected)
{
	json_object_put(rejected->jobs);
	free(rejected->path);
}
