/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/act/room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/act/limits.h"
#include "node/act/mount.h"
#include "node/act/mount_copies.h"
#include "node/act/substate.h"
#include "node/act/sweeper.h"
#include "node/see/file_system.h"
#include "node/wipe/trash.h"

/* The longest that a job waits for the removal of trash. */
#define WAIT_MS 4000
#define STEP_MS 100

#define BYTES_PER_FILE 65536

/* A job without a size, beside other jobs, needs this part of the file system. */
#define SMALL_PART 64

/* Holds the superblocks of ext4 and XFS. */
#define HEAD_BYTES 65536

struct room {
	const struct pm_operation *op;
	const struct pm_inventory *inventory;
	const struct pm_job *job;
	bool is_alone;
};

static struct pm_fs_amount needed(const struct room *room, const struct pm_fs_space *space)
{
	uint64_t bytes = room->job->size_bytes, part = room->is_alone ? 2 : SMALL_PART;

	if (!bytes)
		return (struct pm_fs_amount){space->total.bytes / part, space->total.files / part};
	return (struct pm_fs_amount){bytes, MIN(bytes / BYTES_PER_FILE, space->total.files / 2)};
}

/* *ret_short: the file system lacks room, and has trash. */
static int look(const struct room *room, const struct pm_inventory_region *region, bool *ret_short,
	struct pm_err *err)
{
	cleanup_close int fd = pm_file_system_open(region, err);
	struct pm_fs_space space;
	struct pm_fs_amount need;
	bool has_trash = false;
	int rc = fd < 0 ? fd : pm_trash_find(fd, &has_trash, err);

	if (!rc)
		rc = pm_file_system_space(fd, &space, err);
	if (rc)
		return rc;
	need = needed(room, &space);
	*ret_short = has_trash && (space.left.bytes < need.bytes || space.left.files < need.files);
	return 0;
}

/* True if the root has only trash. */
static bool has_only_trash(const struct pm_inventory_region *region)
{
	cleanup_close int fd = pm_file_system_open(region, NULL);
	cleanup_dir DIR *dir = fd < 0 ? NULL : fdopendir(dup(fd));
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!pm_is_of_mkfs(entry->d_name) && !pm_trash_is_name(entry->d_name))
			return false;
	return dir != NULL;
}

/*
 * Zeroes the superblock, so that the next look finds no file system and makes one. O_EXCL on a
 * block device fails while it is mounted in any mount namespace (open(2)).
 */
static bool erase_superblock(const struct pm_inventory_ns *ns)
{
	static const char zeros[HEAD_BYTES];
	cleanup_close int fd = -1;
	char device[64];

	snprintf(device, sizeof(device), "/dev/%s", ns->nd.blockdev);
	fd = open(device, O_RDWR | O_EXCL | O_CLOEXEC);
	return fd >= 0 && pwrite(fd, zeros, sizeof(zeros), 0) == (ssize_t)sizeof(zeros) &&
	       !fsync(fd);
}

static bool discard_file_system(
	const struct pm_operation *op, const struct pm_inventory_region *region)
{
	const struct pm_inventory_ns *ns = pm_inventory_serving(region, PM_SUBSTATE_FSDAX);

	return !ns->is_pinned && !*ns->elsewhere && has_only_trash(region) &&
	       !pm_sweeper_unmount(op, region, NULL) &&
	       !pm_mount_copies_free(ns->nd.blockdev, NULL) && erase_superblock(ns);
}

/* Makes file systems anew where it can. Afterwards all are mounted, new and old ones. */
static int make_anew(const struct room *room, struct pm_err *err)
{
	for (size_t i = 0; i < room->inventory->n; i++) {
		const struct pm_inventory_region *region = &room->inventory->list[i];
		bool is_short = false;
		int rc = look(room, region, &is_short, err);

		if (rc)
			return rc;
		if (is_short && discard_file_system(room->op, region))
			pm_report(room->op, "%s is made anew: earlier jobs have filled it",
				region->mount_point);
	}
	return pm_substate_reach(room->op, PM_SUBSTATE_FSDAX, /* dry_run= */ false, err);
}

static int look_at_all(const struct room *room, bool *ret_short, struct pm_err *err)
{
	int rc = 0;

	*ret_short = false;
	for (size_t i = 0; !rc && !*ret_short && i < room->inventory->n; i++)
		rc = look(room, &room->inventory->list[i], ret_short, err);
	return rc;
}

static int wait_for_sweeper(const struct room *room, struct pm_err *err)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	bool is_short = true;
	int rc = 0;

	for (int ms = 0; !rc && is_short && ms < WAIT_MS; ms += STEP_MS) {
		nanosleep(&step, NULL);
		rc = look_at_all(room, &is_short, err);
	}
	return rc;
}

int pm_room_make(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, const struct pm_job *job, struct pm_err *err)
{
	const struct pm_tenants others = {jobs, job->boot_id, job, /* with_job= */ false};
	const struct room room = {op, inventory, job, !pm_limits_tenants(&others)};
	bool is_short = false;
	int rc = 0;

	if (job->substate != PM_SUBSTATE_FSDAX)
		return 0;
	rc = look_at_all(&room, &is_short, err);
	if (rc || !is_short)
		return rc;
	if (room.is_alone) {
		rc = make_anew(&room, err);
		pm_sweeper_start(op); /* file systems that stayed mounted still have trash */
	}
	return rc ? rc : wait_for_sweeper(&room, err);
}
