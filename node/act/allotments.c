/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/act/allotments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/act/limits.h"
#include "node/act/mount.h"
#include "node/act/sweeper.h"
#include "node/see/file_system.h"
#include "node/tools/kernel.h"
#include "node/tools/quota.h"
#include "node/wipe/trash.h"

#define NAME_MAX_ 20
#define GIB	  (1024.0 * 1024 * 1024)

static void name_of(uint32_t id, char ret[NAME_MAX_])
{
	snprintf(ret, NAME_MAX_, PM_JOB_DIRECTORY_PREFIX "%u", (unsigned)id);
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

/* Trash is removed in the background, so the job may be tried again. */
static int put_off(const struct pm_job *job, int socket, struct pm_err *err)
{
	return pm_err_set(err, -EAGAIN,
		"the job asks for %.1f GiB of persistent memory on each socket; socket %d has "
		"less until the files of earlier jobs are removed",
		(double)job->size_bytes / GIB, socket);
}

static int check_file_system(const struct pm_inventory_region *region, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err)
{
	const struct pm_tenants others = {jobs, job->boot_id, job, /* with_job= */ false};
	cleanup_close int fd = pm_file_system_open(region, err);
	struct pm_fs_space space;
	uint64_t promised, left;
	bool has_trash = false;
	int rc = fd < 0 ? fd : pm_limits_promised(fd, &others, &promised, err);

	if (!rc)
		rc = pm_file_system_space(fd, &space, err);
	if (!rc)
		rc = pm_trash_find(fd, &has_trash, err);
	if (rc)
		return pm_err_prefix(err, "%s", region->mount_point);
	left = space.left.bytes > promised ? space.left.bytes - promised : 0;
	if (job->size_bytes <= left)
		return 0;
	return has_trash ? put_off(job, region->socket, err)
			 : refuse(job, region->socket, left, promised, err);
}

int pm_allotments_check_size(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && job->size_bytes && i < inventory->n; i++) {
		const struct pm_inventory_region *region = &inventory->list[i];

		if (job->substate == PM_SUBSTATE_FSDAX)
			rc = check_file_system(region, jobs, job, err);
		else if (job->size_bytes > region->nd.size_bytes)
			rc = refuse(job, region->socket, region->nd.size_bytes, 0, err);
	}
	return rc;
}

/* chown comes last: the user must not write before the directory is in its project. */
static int make_directory(
	int root_fd, const struct pm_job *job, const char *name, struct pm_err *err)
{
	cleanup_close int fd = -1;
	int rc;

	if (mkdirat(root_fd, name, 0700))
		return pm_err_sys(err, -errno, "make directory '%s'", name);
	fd = openat(root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return pm_err_sys(err, -errno, "open directory '%s'", name);
	rc = pm_quota_mark(fd, PM_QUOTA_PROJECT(job->id), err);
	if (!rc && (fchmod(fd, 0700) || fchown(fd, job->uid, job->gid)))
		rc = pm_err_sys(
			err, -errno, "give directory '%s' to user %u", name, (unsigned)job->uid);
	return rc;
}

static int add(struct pm_jobview *view, enum pm_allotment_kind kind, const char *value, int socket,
	struct pm_err *err)
{
	int rc = pm_jobview_add(view, kind, value, socket);

	return rc ? pm_err_sys(err, rc, "add '%s' to the job view", value) : 0;
}

/* A directory of an earlier run of the job becomes trash. */
static int make_job(const char *mount_point, int root_fd, const struct pm_tenants *tenants,
	const char *name, struct pm_err *err)
{
	bool is_left;
	int rc = pm_trash_make(root_fd, mount_point, name, &is_left, err);

	if (!rc)
		rc = pm_limits_set(root_fd, tenants, err);
	return rc ? rc : make_directory(root_fd, tenants->job, name, err);
}

/* Jobs without a size, of several users, can fill the file system together. */
static int complain(const char *mount_point, int rc, struct pm_err *err)
{
	if (rc != -ENOSPC && rc != -EDQUOT)
		return pm_err_prefix(err, "%s", mount_point);
	return pm_err_set(err, -EDQUOT,
		"other jobs have filled the persistent memory of this node, there is no room for "
		"a directory; try again when they have ended");
}

static int allot_directory(const struct pm_inventory_region *region, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_jobview *view, struct pm_err *err)
{
	const struct pm_tenants tenants = {jobs, job->boot_id, job, /* with_job= */ true};
	char name[NAME_MAX_], path[PM_MOUNT_POINT_MAX + NAME_MAX_ + 1];
	cleanup_close int fd = pm_file_system_open(region, err);
	int rc;

	if (fd < 0)
		return fd;
	name_of(job->id, name);
	rc = make_job(region->mount_point, fd, &tenants, name, err);
	if (rc)
		return complain(region->mount_point, rc, err);
	snprintf(path, sizeof(path), "%s/%s", region->mount_point, name);
	return add(view, PM_ALLOTMENT_DIR, path, region->socket, err);
}

/* Sets mode and owner on the descriptor, so that the checked device is the one that changes. */
static int chown_device(const char *path, uid_t uid, gid_t gid, struct pm_err *err)
{
	cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return pm_err_sys(err, -errno, "open '%s'", path);
	if (!S_ISCHR(st.st_mode))
		return pm_err_set(err, -EIO, "'%s' is not a device", path);
	if (fchmod(fd, 0600) || fchown(fd, uid, gid))
		return pm_err_sys(err, -errno, "give '%s' to user %u", path, (unsigned)uid);
	return 0;
}

static void device_path(const struct pm_inventory_ns *ns, char ret[64])
{
	snprintf(ret, 64, "/dev/%s", ns->dax.chardev);
}

static int allot_device(const struct pm_inventory_region *region, const struct pm_job *job,
	struct pm_jobview *view, struct pm_err *err)
{
	const struct pm_inventory_ns *ns = pm_inventory_serving(region, PM_SUBSTATE_DEVDAX);
	char path[64];
	int rc;

	if (!ns || !*ns->dax.chardev)
		return pm_err_set(err, -EIO, "there is no device on %s", region->nd.dev);
	device_path(ns, path);
	rc = chown_device(path, job->uid, job->gid, err);
	return rc ? rc : add(view, PM_ALLOTMENT_DAX, path, region->socket, err);
}

static bool has_node(const struct pm_jobview *view, const char *node)
{
	for (size_t i = 0; i < view->n; i++)
		if (!strcmp(view->allotments[i].value, node))
			return true;
	return false;
}

/* Regions of one socket may have one NUMA node: it is listed once. */
static int allot_node(
	const struct pm_inventory_region *region, struct pm_jobview *view, struct pm_err *err)
{
	char node[16];

	if (region->nd.target_node < 0)
		return pm_err_set(err, -EIO, "%s has no NUMA node of its own", region->nd.dev);
	snprintf(node, sizeof(node), "%d", region->nd.target_node);
	return has_node(view, node) ? 0 : add(view, PM_ALLOTMENT_NODE, node, region->socket, err);
}

int pm_allotments_make(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_jobview *view, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < inventory->n; i++) {
		const struct pm_inventory_region *region = &inventory->list[i];

		if (job->substate == PM_SUBSTATE_FSDAX)
			rc = allot_directory(region, jobs, job, view, err);
		else if (job->substate == PM_SUBSTATE_DEVDAX)
			rc = allot_device(region, job, view, err);
		else if (job->substate == PM_SUBSTATE_FLAT)
			rc = allot_node(region, view, err);
	}
	return rc;
}

/*
 * True if trash is left. A directory that cannot be renamed is closed to its owner; it costs only
 * its space until a later sweep.
 */
static bool discard(const struct pm_operation *op, int root_fd,
	const struct pm_inventory_region *region, uint32_t id)
{
	char name[NAME_MAX_];
	struct pm_err err;
	bool is_left;

	name_of(id, name);
	if (pm_trash_make(root_fd, region->mount_point, name, &is_left, &err))
		pm_warn(op, "%s: %s", region->mount_point, err.text);
	return is_left;
}

/*
 * If the file system is not mounted, the job's directory stays until pm_allotments_sweep() of a
 * later job.
 */
static int remove_directory(const struct pm_operation *op, const struct pm_inventory_region *region,
	const struct pm_tenants *others, bool *left, struct pm_err *err)
{
	cleanup_close int fd = -1;
	int rc;

	if (!pm_file_system_is_mounted(region))
		return 0;
	fd = pm_file_system_open(region, err);
	if (fd < 0)
		return fd;
	*left |= discard(op, fd, region, others->job->id);
	rc = pm_limits_set(fd, others, err);
	if (rc == -ENOSPC) {
		pm_warn(op, "%s: %s", region->mount_point, err->text);
		return 0;
	}
	return rc ? pm_err_prefix(err, "%s", region->mount_point) : 0;
}

static int reclaim_device(const struct pm_inventory_region *region, struct pm_err *err)
{
	const struct pm_inventory_ns *ns = pm_inventory_serving(region, PM_SUBSTATE_DEVDAX);
	char path[64];

	if (!ns || !*ns->dax.chardev)
		return 0;
	device_path(ns, path);
	return chown_device(path, 0, 0, err);
}

int pm_allotments_remove(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, const struct pm_job *job, struct pm_err *err)
{
	char boot_id[PM_BOOT_ID_MAX];
	const struct pm_tenants others = {jobs, boot_id, job, /* with_job= */ false};
	int rc = pm_kernel_boot_id(op->config.fs_root, boot_id, err);
	bool is_left = false;

	for (size_t i = 0; !rc && i < inventory->n; i++) {
		if (job->substate == PM_SUBSTATE_FSDAX)
			rc = remove_directory(op, &inventory->list[i], &others, &is_left, err);
		else if (job->substate == PM_SUBSTATE_DEVDAX)
			rc = reclaim_device(&inventory->list[i], err);
	}
	if (is_left)
		pm_sweeper_start(op);
	return rc;
}

/* The ID of "job_12" if that job has no record, else 0. */
static uint32_t orphan_id(const char *name, const struct pm_jobs *jobs)
{
	uint32_t id;

	if (strncmp(name, PM_JOB_DIRECTORY_PREFIX, strlen(PM_JOB_DIRECTORY_PREFIX)) ||
		pm_job_parse_id(name + strlen(PM_JOB_DIRECTORY_PREFIX), &id))
		return 0;
	return pm_jobs_find(jobs, id) ? 0 : id;
}

/*
 * Renaming while the directory is read is harmless: an entry that comes up again is trash by name.
 */
static int discard_orphans(const struct pm_operation *op, int root_fd,
	const struct pm_inventory_region *region, const struct pm_jobs *jobs, struct pm_err *err)
{
	cleanup_dir DIR *dir = NULL;
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int rc = pm_err_sys(err, -errno, "open '%s'", region->mount_point);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	while ((entry = readdir(dir))) {
		uint32_t id = orphan_id(entry->d_name, jobs);

		if (!id)
			continue;
		(void)discard(op, root_fd, region, id);
		pm_report(op, "%s: closed the directory of job %u, which has no record",
			region->mount_point, (unsigned)id);
	}
	return 0;
}

static int sweep_file_system(const struct pm_operation *op,
	const struct pm_inventory_region *region, const struct pm_jobs *jobs, bool *left,
	struct pm_err *err)
{
	cleanup_close int fd = pm_file_system_open(region, err);
	bool has_trash = false;
	int rc = fd < 0 ? fd : discard_orphans(op, fd, region, jobs, err);

	if (!rc)
		rc = pm_trash_find(fd, &has_trash, err);
	*left |= has_trash;
	return rc;
}

int pm_allotments_sweep(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, struct pm_err *err)
{
	bool is_left = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < inventory->n; i++)
		if (pm_file_system_is_mounted(&inventory->list[i]))
			rc = sweep_file_system(op, &inventory->list[i], jobs, &is_left, err);
	if (is_left)
		pm_sweeper_start(op);
	return rc;
}
