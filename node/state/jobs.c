/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/store.h"
#include "base/units.h"

#define SUFFIX ".json"

static const char *const states[] = {
	[PM_JOB_BEGUN] = "begun",
	[PM_JOB_READY] = "ready",
	[PM_JOB_REFUSED] = "refused",
	[PM_JOB_UNREADABLE] = "unreadable",
};

const char *pm_job_state_name(enum pm_job_state state)
{
	return states[state];
}

int pm_job_parse_id(const char *text, uint32_t *ret)
{
	uint64_t id;

	if (pm_parse_u64(text, &id) || id < 1 || id > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)id;
	return 0;
}

static char *path_of(const char *dir, uint32_t id)
{
	return pm_asprintf("%s/%u" SUFFIX, dir, (unsigned)id);
}

static const struct pm_field fields[] = {
	{"job", PM_FIELD_U32, PM_FIELD(struct pm_job, id)},
	{"uid", PM_FIELD_U32, PM_FIELD(struct pm_job, uid)},
	{"gid", PM_FIELD_U32, PM_FIELD(struct pm_job, gid)},
	{"state", PM_FIELD_NAME, PM_FIELD(struct pm_job, state), .name = pm_job_state_name,
		.last = PM_JOB_REFUSED},
	{"mode", PM_FIELD_NAME, PM_FIELD(struct pm_job, mode), .name = pm_mode_name,
		.first = PM_MODE_UNKNOWN + 1, .last = PM_MODE_MAX - 1},
	{"substate", PM_FIELD_NAME, PM_FIELD(struct pm_job, substate), .name = pm_substate_name,
		.last = PM_SUBSTATE_FLAT},
	{"size_bytes", PM_FIELD_U64, PM_FIELD(struct pm_job, size_bytes)},
	{"memory_bytes", PM_FIELD_U64, PM_FIELD(struct pm_job, memory_bytes), .since = 2},
	{"boot_id", PM_FIELD_TEXT, PM_FIELD(struct pm_job, boot_id)},
	{"run", PM_FIELD_TEXT, PM_FIELD(struct pm_job, run), .since = 2},
	{"time", PM_FIELD_TEXT, PM_FIELD(struct pm_job, time)},
	{0},
};

static const struct pm_store store = {
	.what = "a record of a job",
	.oldest = 1,
	.version = 2,
	.mode = 0600,
	.max_bytes = 16 * 1024,
	.is_ours = true,
	.size = sizeof(struct pm_job),
	.fields = fields,
};

/* -EBADMSG for errors of the file; errors of the machine as they are. */
static int read_record(int dir_fd, const char *name, uint32_t id, struct pm_job *ret)
{
	struct pm_job job;
	int rc = pm_store_read_at(&store, dir_fd, name, &job, NULL);

	if (rc)
		return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE ? rc : -EBADMSG;
	if (job.id != id)
		return -EBADMSG;
	*ret = job;
	return 0;
}

bool pm_job_is_file(const char *name, uint32_t *ret_id)
{
	char digits[16];
	size_t length = strcspn(name, ".");

	if (length >= sizeof(digits) || strcmp(name + length, SUFFIX))
		return false;
	memcpy(digits, name, length);
	digits[length] = '\0';
	return !pm_job_parse_id(digits, ret_id);
}

static int add(struct pm_jobs *jobs, const struct pm_job *job)
{
	struct pm_job *entry = pm_list_next(&jobs->list, jobs->n, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	*entry = *job;
	jobs->n++;
	return 0;
}

static int add_record(struct pm_jobs *jobs, int dir_fd, const char *name, struct pm_err *err)
{
	struct pm_job job = {.state = PM_JOB_UNREADABLE};
	int rc;

	if (!pm_job_is_file(name, &job.id))
		return 0;
	rc = read_record(dir_fd, name, job.id, &job);
	if (rc && rc != -EBADMSG)
		return pm_err_sys(err, rc, "open '%s'", name);
	return add(jobs, &job) ? pm_err_nomem(err) : 0;
}

static int compare(const void *a_, const void *b_)
{
	const struct pm_job *a = a_, *b = b_;

	return a->id < b->id ? -1 : a->id > b->id;
}

int pm_jobs_read(const char *path, struct pm_jobs *ret, struct pm_err *err)
{
	cleanup_dir DIR *dir = opendir(path);
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	const struct dirent *entry;
	int rc = 0;

	if (!dir && errno != ENOENT)
		return pm_err_sys(err, -errno, "open '%s'", path);
	while (!rc && dir && (entry = readdir(dir))) {
		rc = add_record(&jobs, dirfd(dir), entry->d_name, err);
		if (rc)
			return pm_err_prefix(err, "read '%s/%s'", path, entry->d_name);
	}
	if (jobs.n)
		qsort(jobs.list, jobs.n, sizeof(*jobs.list), compare);
	*ret = jobs;
	jobs = (struct pm_jobs){0};
	return 0;
}

const struct pm_job *pm_jobs_find(const struct pm_jobs *jobs, uint32_t id)
{
	for (size_t i = 0; i < jobs->n; i++)
		if (jobs->list[i].id == id)
			return &jobs->list[i];
	return NULL;
}

static bool can_share(enum pm_substate a, enum pm_substate b)
{
	return a == b && a != PM_SUBSTATE_DEVDAX && a != PM_SUBSTATE_FLAT;
}

const struct pm_job *pm_jobs_next_other(
	const struct pm_jobs *jobs, const struct pm_job *job, size_t *at)
{
	while (*at < jobs->n) {
		const struct pm_job *other = &jobs->list[(*at)++];

		if (other->id != job->id && other->state != PM_JOB_REFUSED &&
			!strcmp(other->boot_id, job->boot_id))
			return other;
	}
	return NULL;
}

const struct pm_job *pm_jobs_conflict(const struct pm_jobs *jobs, const struct pm_job *job)
{
	const struct pm_job *other;
	size_t at = 0;

	for (size_t i = 0; i < jobs->n && job->mode != PM_MODE_MEMORY; i++)
		if (jobs->list[i].state == PM_JOB_UNREADABLE && jobs->list[i].id != job->id)
			return &jobs->list[i];
	while ((other = pm_jobs_next_other(jobs, job, &at)))
		if (!can_share(other->substate, job->substate))
			return other;
	return NULL;
}

int pm_job_write(const char *dir, const struct pm_job *job, struct pm_err *err)
{
	cleanup_free char *path = path_of(dir, job->id);

	return path ? pm_store_write(&store, path, job, err) : pm_err_nomem(err);
}

int pm_job_forget(const char *dir, uint32_t id, struct pm_err *err)
{
	cleanup_free char *path = path_of(dir, id);

	return path ? pm_store_remove(path, err) : pm_err_nomem(err);
}

int pm_job_set_aside(const char *dir, uint32_t id, struct pm_err *err)
{
	cleanup_free char *path = path_of(dir, id);

	return path ? pm_store_set_aside(path, err) : pm_err_nomem(err);
}

void pm_jobs_done(struct pm_jobs *jobs)
{
	free(jobs->list);
	*jobs = (struct pm_jobs){0};
}
