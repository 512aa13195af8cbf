/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/limits.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/see/file_system.h"
#include "node/tools/quota.h"
#include "node/wipe/trash.h"

/* The ratio of node/act/actions.c for ext4; XFS has more inodes. */
#define BYTES_PER_FILE 65536
#define MIN_FILES      4096

/* A part of the file system is never promised: the directories of the next jobs need space. */
#define RESERVE_PART 64

/* The smallest limits: 0 means no limit. */
static const struct pm_fs_amount next_to_nothing = {.bytes = 1024, .files = 1};

/* The jobs on a file system, and how much it has. */
struct books {
	int root_fd;
	const struct pm_job **list, *begins;
	size_t n;
	struct pm_fs_amount open; /* limit of a job without a size */
	uint64_t files;
	bool has_trash, has_users; /* quotas of users */
};

static void books_done(struct books *books)
{
	free(books->list);
}

static bool is_tenant(const struct pm_tenants *tenants, const struct pm_job *job)
{
	return !(tenants->job && job->id == tenants->job->id) &&
	       job->substate == PM_SUBSTATE_FSDAX && job->state != PM_JOB_REFUSED &&
	       !strcmp(job->boot_id, tenants->boot_id);
}

size_t pm_limits_tenants(const struct pm_tenants *tenants)
{
	size_t n = tenants->with_job;

	for (size_t i = 0; i < tenants->jobs->n; i++)
		n += is_tenant(tenants, &tenants->jobs->list[i]);
	return n;
}

static int list_tenants(const struct pm_tenants *tenants, struct books *books)
{
	books->list = calloc(tenants->jobs->n + 1, sizeof(struct pm_job *));
	if (!books->list)
		return -ENOMEM;
	if (tenants->with_job)
		books->begins = books->list[books->n++] = tenants->job;
	for (size_t i = 0; i < tenants->jobs->n; i++)
		if (is_tenant(tenants, &tenants->jobs->list[i]))
			books->list[books->n++] = &tenants->jobs->list[i];
	return 0;
}

static int measure(struct books *books, struct pm_err *err)
{
	uint64_t total_bytes, sized_bytes = 0;
	struct pm_fs_space space;
	int rc = pm_file_system_space(books->root_fd, &space, err);

	if (rc)
		return rc;
	total_bytes = space.total.bytes;
	for (size_t i = 0; i < books->n; i++)
		sized_bytes += books->list[i]->size_bytes;
	total_bytes -= total_bytes / RESERVE_PART;
	books->files = total_bytes / BYTES_PER_FILE + 1;
	books->open = next_to_nothing;
	if (total_bytes > sized_bytes + next_to_nothing.bytes)
		books->open.bytes = total_bytes - sized_bytes;
	books->open.files = books->files / 2 + 1;
	return 0;
}

static int open_books(
	int root_fd, const struct pm_tenants *tenants, struct books *ret, struct pm_err *err)
{
	struct pm_quota quota;
	int rc;

	*ret = (struct books){.root_fd = root_fd};
	rc = pm_trash_find(root_fd, &ret->has_trash, err);
	if (rc)
		return rc;
	if (list_tenants(tenants, ret))
		return pm_err_nomem(err);
	rc = measure(ret, err);
	if (rc)
		return rc;
	rc = pm_quota_get(root_fd, PM_QUOTA_OF_USER, 0, &quota, err);
	ret->has_users = !rc;
	return rc == -ESRCH ? 0 : rc;
}

static struct pm_fs_amount share_of(const struct books *books, const struct pm_job *job)
{
	struct pm_fs_amount share = {job->size_bytes, job->size_bytes / BYTES_PER_FILE};

	if (!job->size_bytes)
		return books->open;
	if (share.files < MIN_FILES)
		share.files = MIN_FILES;
	if (share.files > books->files)
		share.files = books->files;
	return share;
}

static void grow(struct pm_fs_amount *share, const struct pm_fs_amount *by)
{
	share->bytes += by->bytes;
	share->files += by->files;
}

static void shrink(struct pm_fs_amount *share, const struct pm_fs_amount *by)
{
	share->bytes -= by->bytes < share->bytes ? by->bytes : share->bytes;
	share->files -= by->files < share->files ? by->files : share->files;
}

static size_t count_jobs(const struct books *books, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < books->n; i++)
		n += books->list[i]->uid == uid;
	return n;
}

/*
 * Used by the projects of the user's jobs. The project of a job that begins has only trash of an
 * earlier run, which does not count.
 */
static int used_by_jobs(
	const struct books *books, uid_t uid, struct pm_fs_amount *ret, struct pm_err *err)
{
	struct pm_quota quota;
	int rc = 0;

	*ret = (struct pm_fs_amount){0};
	for (size_t i = 0; !rc && i < books->n; i++) {
		const struct pm_job *job = books->list[i];

		if (job->uid != uid || job == books->begins)
			continue;
		rc = pm_quota_get(books->root_fd, PM_QUOTA_OF_PROJECT, PM_QUOTA_PROJECT(job->id),
			&quota, err);
		if (!rc)
			grow(ret, &quota.used);
	}
	return rc;
}

/* The sum of the limits of the user's jobs; all jobs without a size count once. */
static struct pm_fs_amount allowance(const struct books *books, uid_t uid)
{
	struct pm_fs_amount sum = {0};
	bool has_open = false;

	for (size_t i = 0; i < books->n; i++) {
		const struct pm_job *job = books->list[i];
		struct pm_fs_amount share = share_of(books, job);

		if (job->uid != uid || (!job->size_bytes && has_open))
			continue;
		has_open |= !job->size_bytes;
		grow(&sum, &share);
	}
	return sum;
}

/* Trash: all that the user owns beside the files of his jobs. */
static int used_by_trash(
	const struct books *books, uid_t uid, struct pm_fs_amount *ret, struct pm_err *err)
{
	struct pm_fs_amount by_jobs;
	struct pm_quota quota;
	int rc = pm_quota_get(books->root_fd, PM_QUOTA_OF_USER, uid, &quota, err);

	if (!rc)
		rc = used_by_jobs(books, uid, &by_jobs, err);
	if (rc)
		return rc;
	*ret = quota.used;
	shrink(ret, &by_jobs);
	return 0;
}

/* root has no limits. */
static int limit_user(const struct books *books, uid_t uid, struct pm_err *err)
{
	struct pm_fs_amount limit = allowance(books, uid), trash = {0};
	int rc = 0;

	if (!uid || !books->has_users)
		return 0;
	if (!limit.bytes)
		limit = next_to_nothing;
	else if (books->has_trash)
		rc = used_by_trash(books, uid, &trash, err);
	grow(&limit, &trash);
	return rc ? rc : pm_quota_set(books->root_fd, PM_QUOTA_OF_USER, uid, &limit, err);
}

/*
 * With user quota, projects have no limits while there is trash: the project of a job that runs
 * again still contains the trash of its earlier run.
 */
static int limit_project(const struct books *books, const struct pm_job *job, struct pm_err *err)
{
	bool is_needed =
		!books->has_users || (!books->has_trash && count_jobs(books, job->uid) > 1);
	const struct pm_fs_amount none = {0}, share = share_of(books, job);

	return pm_quota_set(books->root_fd, PM_QUOTA_OF_PROJECT, PM_QUOTA_PROJECT(job->id),
		is_needed ? &share : &none, err);
}

static int forget_job(const struct books *books, const struct pm_job *job, struct pm_err *err)
{
	const struct pm_fs_amount none = {0};
	int rc = pm_quota_set(
		books->root_fd, PM_QUOTA_OF_PROJECT, PM_QUOTA_PROJECT(job->id), &none, err);

	return rc ? rc : limit_user(books, job->uid, err);
}

int pm_limits_set(int root_fd, const struct pm_tenants *tenants, struct pm_err *err)
{
	cleanup_with(books_done) struct books books = {0};
	int rc = open_books(root_fd, tenants, &books, err);

	if (!rc && tenants->job && !tenants->with_job)
		rc = forget_job(&books, tenants->job, err);
	for (size_t i = 0; !rc && i < books.n; i++) {
		rc = limit_project(&books, books.list[i], err);
		if (!rc)
			rc = limit_user(&books, books.list[i]->uid, err);
	}
	return rc;
}

/*
 * The bytes that the user's jobs with a size may still write. Counted by user, since a user cannot
 * give files to another.
 */
static int promised_to(
	const struct books *books, uid_t uid, uint64_t *ret_bytes, struct pm_err *err)
{
	struct pm_fs_amount promised = {0}, used = {0};
	struct pm_quota quota = {0};
	int rc = 0;

	for (size_t i = 0; i < books->n; i++)
		if (books->list[i]->uid == uid)
			promised.bytes += books->list[i]->size_bytes;
	if (books->has_users && !books->has_trash && uid)
		rc = pm_quota_get(books->root_fd, PM_QUOTA_OF_USER, uid, &quota, err);
	else
		rc = used_by_jobs(books, uid, &used, err);
	if (rc)
		return rc;
	grow(&used, &quota.used);
	shrink(&promised, &used);
	*ret_bytes = promised.bytes;
	return 0;
}

static bool is_first_of_user(const struct books *books, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (books->list[i]->uid == books->list[at]->uid)
			return false;
	return true;
}

int pm_limits_promised(
	int root_fd, const struct pm_tenants *tenants, uint64_t *ret_bytes, struct pm_err *err)
{
	cleanup_with(books_done) struct books books = {0};
	uint64_t sum = 0;
	int rc = open_books(root_fd, tenants, &books, err);

	for (size_t i = 0; !rc && i < books.n; i++) {
		uint64_t bytes = 0;

		if (is_first_of_user(&books, i))
			rc = promised_to(&books, books.list[i]->uid, &bytes, err);
		sum += bytes;
	}
	if (!rc)
		*ret_bytes = sum;
	return rc;
}
