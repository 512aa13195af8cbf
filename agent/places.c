/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/quota.h"
#include "lib/rmtree.h"

#define PREFIX	  "job_"
#define NAME_MAX_ 20
#define GIB	  (1024.0 * 1024 * 1024)

static void name_of(uint32_t id, char ret[NAME_MAX_])
{
	snprintf(ret, NAME_MAX_, PREFIX "%u", (unsigned)id);
}

/* The root of the region's file system: a negative errno, with the sentence, when it is not what
 * is mounted there. */
static int open_root(const struct pm_pmem *pmem, const struct pm_stored *stored, struct pm_err *err)
{
	cleanup_close int fd = open(pmem->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	char device[PM_DEVICE_MAX];
	struct stat st;
	int ret;

	if (fd < 0 || fstat(fd, &st))
		return pm_err_sys(err, -errno, "open '%s'", pmem->place);
	snprintf(device, sizeof(device), "%u:%u", major(st.st_dev), minor(st.st_dev));
	if (strcmp(device, stored->device))
		return pm_err_set(err, -EIO, "'%s' is not on %s (device %s, not %s)", pmem->place,
			stored->nd.dev, device, stored->device);
	ret = fd;
	fd = -1;
	return ret;
}

/* The region's mounted file system of ours; NULL when there is none. */
static const struct pm_stored *mounted_on(const struct pm_pmem *pmem)
{
	const struct pm_stored *stored = pm_pmem_serving(pmem, PM_SUBSTATE_FSDAX);

	return stored && (stored->is_mounted || stored->is_misplaced) ? stored : NULL;
}

/* What the quotas of other jobs promise beyond what these jobs use already. */
static int add_promises(int fd, const struct pm_jobs *jobs, const struct pm_job *job,
	uint64_t *ret_bytes, struct pm_err *err)
{
	int rc = 0;

	*ret_bytes = 0;
	for (size_t i = 0; !rc && i < jobs->n; i++) {
		const struct pm_job *other = &jobs->list[i];
		struct pm_quota quota = {0};

		if (other->id == job->id || other->substate != PM_SUBSTATE_FSDAX ||
			!other->size_bytes)
			continue;
		rc = pm_quota_get(fd, PM_QUOTA_PROJECT(other->id), &quota, err);
		if (!rc && quota.limit_bytes > quota.used_bytes)
			*ret_bytes += quota.limit_bytes - quota.used_bytes;
	}
	return rc;
}

static int refuse(const struct pm_job *job, int socket, uint64_t left_bytes,
	uint64_t promised_bytes, struct pm_err *err)
{
	char promised[80] = "";

	if (promised_bytes)
		snprintf(promised, sizeof(promised), " (%.1f GiB are promised to other jobs)",
			(double)promised_bytes / GIB);
	return pm_err_set(err, -EDQUOT,
		"the job asks for %.1f GiB of persistent memory on each socket, socket %d has %.1f "
		"GiB left for it%s; ask for less with --pm-size",
		(double)job->size_bytes / GIB, socket, (double)left_bytes / GIB, promised);
}

static int check_file_system(const struct pm_pmem *pmem, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err)
{
	const struct pm_stored *stored = mounted_on(pmem);
	cleanup_close int fd = -1;
	uint64_t promised, left;
	struct statvfs st;
	int rc;

	if (!stored)
		return pm_err_set(err, -EIO, "there is no file system on %s", pmem->nd.dev);
	fd = open_root(pmem, stored, err);
	if (fd < 0)
		return fd;
	if (fstatvfs(fd, &st))
		return pm_err_sys(err, -errno, "ask for the space in '%s'", pmem->place);
	rc = add_promises(fd, jobs, job, &promised, err);
	if (rc)
		return rc;
	left = (uint64_t)st.f_bavail * st.f_frsize;
	left = left > promised ? left - promised : 0;
	return job->size_bytes <= left ? 0 : refuse(job, pmem->socket, left, promised, err);
}

int pm_places_check_size(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && job->size_bytes && i < inventory->n; i++) {
		const struct pm_pmem *pmem = &inventory->list[i];

		if (job->substate == PM_SUBSTATE_FSDAX)
			rc = check_file_system(pmem, jobs, job, err);
		else if (job->size_bytes > pmem->nd.size_bytes)
			rc = refuse(job, pmem->socket, pmem->nd.size_bytes, 0, err);
	}
	return rc;
}

/* The sum of what the user's jobs may use; 0, no limit, when he has none, or one without a size. */
static uint64_t limit_of_user(const struct pm_jobs *jobs, const struct pm_job *job, bool with_job)
{
	uint64_t sum = with_job ? job->size_bytes : 0;

	if (with_job && !sum)
		return 0;
	for (size_t i = 0; i < jobs->n; i++) {
		const struct pm_job *other = &jobs->list[i];

		if (other->id == job->id || other->uid != job->uid ||
			other->substate != PM_SUBSTATE_FSDAX || other->state == PM_JOB_REFUSED ||
			strcmp(other->boot_id, job->boot_id))
			continue;
		if (!other->size_bytes)
			return 0;
		sum += other->size_bytes;
	}
	return sum;
}

/* File systems that were made without it go without it. */
static int limit_user(int root_fd, const struct pm_jobs *jobs, const struct pm_job *job,
	bool with_job, struct pm_err *err)
{
	int rc = pm_quota_limit_user(root_fd, job->uid, limit_of_user(jobs, job, with_job), err);

	return rc == -ESRCH ? 0 : rc;
}

/* The user gets it last, when it is in its project. */
static int make_directory(
	int root_fd, const struct pm_job *job, const char *name, struct pm_err *err)
{
	uint32_t project = PM_QUOTA_PROJECT(job->id);
	cleanup_close int fd = -1;
	int rc = pm_rmtree(root_fd, name, err);

	if (rc)
		return rc;
	if (mkdirat(root_fd, name, 0700))
		return pm_err_sys(err, -errno, "make directory '%s'", name);
	fd = openat(root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return pm_err_sys(err, -errno, "open directory '%s'", name);
	rc = pm_quota_set(root_fd, project, job->size_bytes, err);
	if (!rc)
		rc = pm_quota_mark(fd, project, err);
	if (!rc && (fchmod(fd, 0700) || fchown(fd, job->uid, job->gid)))
		rc = pm_err_sys(
			err, -errno, "give directory '%s' to user %u", name, (unsigned)job->uid);
	return rc;
}

static int add(struct pm_jobview *view, enum pm_place_kind kind, const char *value, int socket,
	struct pm_err *err)
{
	int rc = pm_jobview_add(view, kind, value, socket);

	return rc ? pm_err_sys(err, rc, "tell the job of '%s'", value) : 0;
}

static int give_directory(const struct pm_pmem *pmem, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_jobview *view, struct pm_err *err)
{
	const struct pm_stored *stored = mounted_on(pmem);
	char name[NAME_MAX_], path[PM_PLACE_MAX + NAME_MAX_ + 1];
	cleanup_close int fd = -1;
	int rc;

	if (!stored)
		return pm_err_set(err, -EIO, "there is no file system on %s", pmem->nd.dev);
	fd = open_root(pmem, stored, err);
	if (fd < 0)
		return fd;
	name_of(job->id, name);
	rc = limit_user(fd, jobs, job, /* with_job= */ true, err);
	if (!rc)
		rc = make_directory(fd, job, name, err);
	if (rc)
		return pm_err_prefix(err, "%s", pmem->place);
	snprintf(path, sizeof(path), "%s/%s", pmem->place, name);
	return add(view, PM_PLACE_DIR, path, pmem->socket, err);
}

/* A character device of this name; its owner and mode are set in one go on what was opened. */
static int chown_device(const char *path, uid_t uid, gid_t gid, struct pm_err *err)
{
	cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return pm_err_sys(err, -errno, "open '%s'", path);
	if (!S_ISCHR(st.st_mode))
		return pm_err_set(err, -EIO, "'%s' is no device", path);
	if (fchmod(fd, 0600) || fchown(fd, uid, gid))
		return pm_err_sys(err, -errno, "give '%s' to user %u", path, (unsigned)uid);
	return 0;
}

static void device_path(const struct pm_stored *stored, char ret[64])
{
	snprintf(ret, 64, "/dev/%s", stored->dax.chardev);
}

static int give_device(const struct pm_pmem *pmem, const struct pm_job *job,
	struct pm_jobview *view, struct pm_err *err)
{
	const struct pm_stored *stored = pm_pmem_serving(pmem, PM_SUBSTATE_DEVDAX);
	char path[64];
	int rc;

	if (!stored || !*stored->dax.chardev)
		return pm_err_set(err, -EIO, "there is no device on %s", pmem->nd.dev);
	device_path(stored, path);
	rc = chown_device(path, job->uid, job->gid, err);
	return rc ? rc : add(view, PM_PLACE_DAX, path, pmem->socket, err);
}

static bool has_node(const struct pm_jobview *view, const char *node)
{
	for (size_t i = 0; i < view->n; i++)
		if (!strcmp(view->places[i].value, node))
			return true;
	return false;
}

/* Regions of one socket may share their node. */
static int give_node(const struct pm_pmem *pmem, struct pm_jobview *view, struct pm_err *err)
{
	char node[16];

	if (pmem->nd.target_node < 0)
		return pm_err_set(err, -EIO, "%s has no NUMA node of its own", pmem->nd.dev);
	snprintf(node, sizeof(node), "%d", pmem->nd.target_node);
	return has_node(view, node) ? 0 : add(view, PM_PLACE_NODE, node, pmem->socket, err);
}

int pm_places_make(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_jobview *view, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < inventory->n; i++) {
		const struct pm_pmem *pmem = &inventory->list[i];

		if (job->substate == PM_SUBSTATE_FSDAX)
			rc = give_directory(pmem, jobs, job, view, err);
		else if (job->substate == PM_SUBSTATE_DEVDAX)
			rc = give_device(pmem, job, view, err);
		else if (job->substate == PM_SUBSTATE_FLAT)
			rc = give_node(pmem, view, err);
	}
	return rc;
}

static int remove_by_id(int root_fd, uint32_t id, struct pm_err *err)
{
	char name[NAME_MAX_];
	int rc;

	name_of(id, name);
	rc = pm_rmtree(root_fd, name, err);
	return rc ? rc : pm_quota_set(root_fd, PM_QUOTA_PROJECT(id), 0, err);
}

/* A file system that is not mounted keeps the directory until a later job: pm_places_sweep(). */
static int remove_directory(const struct pm_pmem *pmem, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err)
{
	const struct pm_stored *stored = mounted_on(pmem);
	cleanup_close int fd = -1;
	int rc;

	if (!stored)
		return 0;
	fd = open_root(pmem, stored, err);
	if (fd < 0)
		return fd;
	rc = remove_by_id(fd, job->id, err);
	if (!rc)
		rc = limit_user(fd, jobs, job, /* with_job= */ false, err);
	return rc ? pm_err_prefix(err, "%s", pmem->place) : 0;
}

static int take_device_back(const struct pm_pmem *pmem, struct pm_err *err)
{
	const struct pm_stored *stored = pm_pmem_serving(pmem, PM_SUBSTATE_DEVDAX);
	char path[64];

	if (!stored || !*stored->dax.chardev)
		return 0;
	device_path(stored, path);
	return chown_device(path, 0, 0, err);
}

int pm_places_remove(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < inventory->n; i++) {
		if (job->substate == PM_SUBSTATE_FSDAX)
			rc = remove_directory(&inventory->list[i], jobs, job, err);
		else if (job->substate == PM_SUBSTATE_DEVDAX)
			rc = take_device_back(&inventory->list[i], err);
	}
	return rc;
}

/* "job_12" of a job without a record: its ID, else 0. */
static uint32_t orphan_id(const char *name, const struct pm_jobs *jobs)
{
	uint32_t id;

	if (strncmp(name, PREFIX, strlen(PREFIX)) || pm_job_parse_id(name + strlen(PREFIX), &id))
		return 0;
	return pm_jobs_find(jobs, id) ? 0 : id;
}

static int sweep_place(const struct pm_pmem *pmem, const struct pm_stored *stored,
	const struct pm_jobs *jobs, struct pm_err *err)
{
	cleanup_dir DIR *dir = NULL;
	const struct dirent *entry;
	int fd = open_root(pmem, stored, err), rc = 0;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return pm_err_nomem(err);
	}
	while (!rc && (entry = readdir(dir))) {
		uint32_t id = orphan_id(entry->d_name, jobs);

		if (id)
			rc = remove_by_id(dirfd(dir), id, err);
	}
	return rc ? pm_err_prefix(err, "%s", pmem->place) : 0;
}

int pm_places_sweep(
	const struct pm_inventory *inventory, const struct pm_jobs *jobs, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < inventory->n; i++) {
		const struct pm_stored *stored = mounted_on(&inventory->list[i]);

		if (stored)
			rc = sweep_place(&inventory->list[i], stored, jobs, err);
	}
	return rc;
}
