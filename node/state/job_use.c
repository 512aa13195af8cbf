/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/job_use.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/secure.h"
#include "base/store.h"
#include "node/state/job_use_bad.h"
#include "node/state/job_use_look.h"
#include "site/modes.h"

#define LOCK_MS 2000

/* Files that wait for pm-controller; beyond it a job's use is dropped. */
#define ENDED_MAX 256

static const struct pm_store store = {
	.what = "a record of what a job used",
	.version = 1,
	.mode = 0600,
	.max_bytes = 64 * 1024,
	.is_ours = true,
	.size = sizeof(struct pm_job_use),
	.fields = pm_job_use_fields,
};

static char *dir_of(const struct pm_config *config, bool ended)
{
	return ended ? pm_asprintf("%s/used", config->state_dir)
		     : pm_asprintf("%s/use", config->run_dir);
}

static char *path_of(const struct pm_config *config, bool ended, uint32_t job_id)
{
	cleanup_free char *dir = dir_of(config, ended);

	return dir ? pm_asprintf("%s/%u.json", dir, (unsigned)job_id) : NULL;
}

static int lock(const struct pm_config *config, int *ret_fd, struct pm_err *err)
{
	cleanup_free char *path = pm_asprintf("%s/use.lock", config->run_dir);

	return path ? pm_lock_take(path, "job use", LOCK_MS, ret_fd, err) : pm_err_nomem(err);
}

static int write_use(const struct pm_config *config, bool ended, const struct pm_job_use *use,
	struct pm_err *err)
{
	cleanup_free char *dir = dir_of(config, ended);
	cleanup_free char *path = path_of(config, ended, use->job_id);
	int rc;

	if (!dir || !path)
		return pm_err_nomem(err);
	rc = pm_file_make_dir(dir, 0700, err);
	if (!rc)
		rc = pm_secure_path(dir, err);
	return rc ? rc : pm_store_write(&store, path, use, err);
}

static int read_use(const struct pm_config *config, bool ended, uint32_t job_id,
	struct pm_job_use *ret, struct pm_err *err)
{
	cleanup_free char *path = path_of(config, ended, job_id);

	return path ? pm_store_read(&store, path, ret, err) : pm_err_nomem(err);
}

static int remove_use(
	const struct pm_config *config, bool ended, uint32_t job_id, struct pm_err *err)
{
	cleanup_free char *path = path_of(config, ended, job_id);

	return path ? pm_store_remove(path, err) : pm_err_nomem(err);
}

static bool has_begun(const struct pm_config *config, const struct pm_job *job)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};

	return !read_use(config, /* ended= */ false, job->id, &use, NULL) &&
	       !strcmp(use.run, job->run);
}

int pm_use_begin(const struct pm_config *config, const struct pm_job *job, uint64_t setup_ms,
	struct pm_err *err)
{
	struct pm_job_use use = {.job_id = job->id,
		.uid = job->uid,
		.begin_s = (uint64_t)time(NULL) - setup_ms / 1000,
		.setup_ms = setup_ms};
	cleanup_close int lock_fd = -1;
	int rc = lock(config, &lock_fd, err);

	if (rc || has_begun(config, job))
		return rc;
	snprintf(use.mode, sizeof(use.mode), "%s", pm_mode_name(job->mode));
	snprintf(use.run, sizeof(use.run), "%s", job->run);
	return write_use(config, /* ended= */ false, &use, err);
}

int pm_use_look(const struct pm_config *config, uint32_t job_id, struct pm_err *err)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};
	cleanup_close int lock_fd = -1;
	int rc = lock(config, &lock_fd, err);

	if (!rc)
		rc = read_use(config, /* ended= */ false, job_id, &use, err);
	if (rc)
		return rc;
	pm_use_look_at(config, &use);
	pm_job_use_sample(&use, (uint64_t)time(NULL));
	return write_use(config, /* ended= */ false, &use, err);
}

/* Written there before it is removed here: a job that is in both has ended. */
int pm_use_end(
	const struct pm_config *config, uint32_t job_id, uint64_t cleanup_ms, struct pm_err *err)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};
	cleanup_close int lock_fd = -1;
	uint32_t ended[ENDED_MAX];
	int rc = lock(config, &lock_fd, err);

	if (!rc)
		rc = read_use(config, /* ended= */ false, job_id, &use, err);
	if (rc)
		return rc;
	use.end_s = (uint64_t)time(NULL) - cleanup_ms / 1000;
	use.cleanup_ms = cleanup_ms;
	pm_use_add_bad(config->fs_root, &use);
	if (pm_use_list(config, /* ended= */ true, ended, ENDED_MAX) < ENDED_MAX)
		rc = write_use(config, /* ended= */ true, &use, err);
	return rc ? rc : remove_use(config, /* ended= */ false, job_id, err);
}

int pm_use_read_ended(
	const struct pm_config *config, uint32_t job_id, struct pm_job_use *ret, struct pm_err *err)
{
	return read_use(config, /* ended= */ true, job_id, ret, err);
}

int pm_use_read_running(
	const struct pm_config *config, uint32_t job_id, struct pm_job_use *ret, struct pm_err *err)
{
	return read_use(config, /* ended= */ false, job_id, ret, err);
}

int pm_use_sent(const struct pm_config *config, uint32_t job_id, struct pm_err *err)
{
	return remove_use(config, /* ended= */ true, job_id, err);
}

size_t pm_use_list(const struct pm_config *config, bool ended, uint32_t *ret, size_t max)
{
	cleanup_free char *path = dir_of(config, ended);
	cleanup_dir DIR *dir = path ? opendir(path) : NULL;
	const struct dirent *entry;
	size_t n = 0;

	while (dir && n < max && (entry = readdir(dir)))
		n += pm_job_is_file(entry->d_name, &ret[n]);
	return n;
}
