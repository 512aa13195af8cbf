/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "controller/history_table.h"
#include "controller/lease_note.h"
#include "controller/old_files.h"
#include "controller/reader_file.h"
#include "controller/slurm_api.h"

#define NOTE "pm_same="

/* --- files --- */

static char *copy_of(const struct pm_history *history, const char *user)
{
	return pm_asprintf("%s/history-%s", history->run_dir, user);
}

/* Of the user with this number. The copy is private: run times tell of somebody's work. */
static int write_copy(const struct pm_history *history, const char *user, const char *text,
	uid_t slurm_uid, struct pm_err *err)
{
	cleanup_free char *path = copy_of(history, user);

	return path ? pm_reader_file_write(path, text, &slurm_uid, err) : pm_err_nomem(err);
}

/* The text of a user's table; NULL if the user has none. */
static char *read_table(const struct pm_history *history, const char *user)
{
	cleanup_free char *path = pm_asprintf("%s/%s", history->dir, user);
	char *text = NULL;

	if (!path || pm_file_read_ours(AT_FDCWD, path, PM_HISTORY_BYTES, &text, NULL, NULL))
		return NULL;
	return text;
}

static int write_table(
	const struct pm_history *history, const char *user, const char *text, struct pm_err *err)
{
	cleanup_free char *path = pm_asprintf("%s/%s", history->dir, user);

	return path ? pm_file_write(path, 0600, text, strlen(text), err) : pm_err_nomem(err);
}

/* A file of this directory that is named by a user's number. */
static bool is_table(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* The service serves without them, too. */
static void copy_all(const struct pm_history *history, uid_t slurm_uid)
{
	cleanup_dir DIR *dir = opendir(history->dir);
	const struct dirent *entry;
	struct pm_err err = {0};

	while (!err.code && dir && (entry = readdir(dir))) {
		cleanup_free char *text =
			is_table(entry->d_name) ? read_table(history, entry->d_name) : NULL;

		if (text && write_copy(history, entry->d_name, text, slurm_uid, &err))
			fprintf(stderr, "%s\n", err.text);
	}
}

int pm_history_open(struct pm_history *history, const char *dir, const char *run_dir,
	uid_t slurm_uid, struct pm_err *err)
{
	int rc;

	history->run_dir = run_dir;
	history->dir = strdup(dir);
	if (!history->dir)
		return pm_err_nomem(err);
	rc = pm_file_make_dir(dir, 0700, err);
	if (!rc)
		rc = pm_file_sweep(dir, NULL, err);
	if (!rc)
		copy_all(history, slurm_uid);
	return rc;
}

/* --- runs --- */

/* False: the job has no note. */
static bool read_key(const char *comment, char ret[PM_HISTORY_KEY + 1])
{
	const char *value = pm_note_find(comment, NOTE);

	if (!value || strspn(value, "0123456789abcdef") != PM_HISTORY_KEY)
		return false;
	memcpy(ret, value, PM_HISTORY_KEY);
	ret[PM_HISTORY_KEY] = '\0';
	return true;
}

static bool counts_as_run(const slurm_job_info_t *job)
{
	uint32_t state = job->job_state & JOB_STATE_BASE;

	return state == JOB_COMPLETE || state == JOB_TIMEOUT;
}

/* On its node, without the set-up. */
static uint64_t seconds_of(const struct pm_job_use *use)
{
	uint64_t begin_s = use->begin_s + use->setup_ms / 1000;

	return use->end_s > begin_s ? use->end_s - begin_s : 1;
}

/* Of a job that outgrew its limit at least one more than that. */
static uint64_t used_mib_of(const struct pm_job_use *use)
{
	uint64_t bytes = pm_job_use_peak(use, "dram") + pm_job_use_peak(use, "pmem");

	if (use->oom_kills && use->memory_limit_bytes > bytes)
		bytes = use->memory_limit_bytes;
	return bytes >> 20;
}

static int add(const struct pm_history *history, const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *node, const struct pm_job_use *use,
	struct pm_err *err)
{
	struct pm_history_run run = {.mode = use->mode,
		.used_mib = used_mib_of(use),
		.end_s = use->end_s,
		.job = job->job_id};
	cleanup_free char *user = pm_asprintf("%u", (unsigned)job->user_id);
	cleanup_free char *old = NULL, *text = NULL;
	int rc;

	if (!user)
		return pm_err_nomem(err);
	if (!read_key(job->admin_comment, run.key))
		return 0;
	if (job->batch_host && !strcmp(job->batch_host, node) && counts_as_run(job))
		run.seconds = seconds_of(use);
	old = read_table(history, user);
	text = pm_history_table_add(old, &run);
	if (!text)
		return pm_err_nomem(err);
	rc = write_table(history, user, text, err);
	return rc ? rc : write_copy(history, user, text, cluster->slurm_uid, err);
}

/* The table of jobs is some seconds old: of a job that has just ended it tells that it runs. */
static int add_fresh(const struct pm_history *history, const struct pm_cluster *cluster,
	const char *node, const struct pm_job_use *use, struct pm_err *err)
{
	job_info_msg_t *jobs = NULL;
	int rc = 0;

	if (slurm_load_job(&jobs, pm_slurm_id(use->job_id), PM_CLUSTER_SHOWN))
		return 0; /* slurmctld has forgotten it */
	for (uint32_t i = 0; !rc && i < jobs->record_count; i++)
		if (jobs->job_array[i].job_id == use->job_id)
			rc = add(history, cluster, &jobs->job_array[i], node, use, err);
	pm_cluster_free_jobs(jobs);
	return rc;
}

int pm_history_add(struct pm_history *history, const struct pm_cluster *cluster, const char *node,
	const struct pm_job_use *use, struct pm_err *err)
{
	const slurm_job_info_t *job = pm_cluster_job(cluster, use->job_id);
	char key[PM_HISTORY_KEY + 1];

	if (job && !read_key(job->admin_comment, key))
		return 0;
	if (job && job->batch_host && strcmp(job->batch_host, node) != 0)
		return add(history, cluster, job, node, use, err);
	return add_fresh(history, cluster, node, use, err);
}

/* --- old tables --- */

static void remove_table(const struct pm_history *history, int dir_fd, const char *user)
{
	cleanup_free char *copy = copy_of(history, user);

	if (copy && !unlinkat(dir_fd, user, 0))
		(void)unlink(copy);
}

void pm_history_sweep(struct pm_history *history, unsigned keep_days, uint64_t now_s)
{
	cleanup_dir DIR *dir = NULL;
	const struct dirent *entry;

	if (!pm_old_files_are_due(&history->swept_s, now_s))
		return;
	dir = opendir(history->dir);
	while (dir && (entry = readdir(dir)))
		if (is_table(entry->d_name) &&
			pm_old_files_has(dirfd(dir), entry->d_name, keep_days, now_s))
			remove_table(history, dirfd(dir), entry->d_name);
}

/* --- the sum --- */

/* Tables that are read in a turn: those who wait for the service wait no longer for them. */
#define TABLES_MAX 50

static void write_sum(struct pm_history *history, uid_t slurm_uid)
{
	cleanup_free char *text = pm_history_site_text(&history->site);
	struct pm_err err = {0};
	int rc = text ? write_copy(history, "site", text, slurm_uid, &err) : pm_err_nomem(&err);

	if (rc)
		fprintf(stderr, "%s\n", err.text);
}

static void end_sum(struct pm_history *history)
{
	if (history->summing)
		closedir(history->summing);
	history->summing = NULL;
	pm_history_site_done(&history->site);
}

static void add_to_sum(struct pm_history *history, const char *user)
{
	cleanup_free char *text = is_table(user) ? read_table(history, user) : NULL;

	if (text)
		(void)pm_history_site_add(&history->site, text); /* a sum of others is good, too */
}

void pm_history_sum_up(struct pm_history *history, uid_t slurm_uid, uint64_t now_s)
{
	const struct dirent *entry = NULL;

	if (!history->summing && !pm_old_files_are_due(&history->summed_s, now_s))
		return;
	if (!history->summing)
		history->summing = opendir(history->dir);
	for (unsigned n = 0; history->summing && n < TABLES_MAX; n++) {
		entry = readdir(history->summing);
		if (!entry)
			break;
		add_to_sum(history, entry->d_name);
	}
	if (entry)
		return;
	if (history->summing)
		write_sum(history, slurm_uid);
	end_sum(history);
}

void pm_history_done(struct pm_history *history)
{
	end_sum(history);
	free(history->dir);
	*history = (struct pm_history){0};
}
