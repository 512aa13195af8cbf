/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/idle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/holder.h"
#include "base/lock.h"
#include "base/store.h"
#include "node/state/jobs.h"
#include "node/state/journal.h"

#define KILL_MS 5000
#define STEP_MS 20

static const struct pm_field fields[] = {
	{"boot_id", PM_FIELD_TEXT, PM_FIELD(struct pm_idle, boot_id), .filled = true},
	{"since_s", PM_FIELD_U64, PM_FIELD(struct pm_idle, since_s)},
	{"memory", PM_FIELD_FLAG, PM_FIELD(struct pm_idle, is_offline), .flag = "offline"},
	{0},
};

static const struct pm_store store = {
	.what = "a mark of idle memory",
	.version = 1,
	.mode = 0600,
	.max_bytes = 4096,
	.is_ours = true,
	.size = sizeof(struct pm_idle),
	.fields = fields,
};

static char *path_of(const struct pm_config *config)
{
	return pm_asprintf("%s/idle.json", config->run_dir);
}

static char *lock_path(const struct pm_config *config)
{
	return pm_asprintf("%s/idle.lock", config->run_dir);
}

static int write_mark(
	const struct pm_config *config, const struct pm_idle *idle, struct pm_err *err)
{
	cleanup_free char *path = path_of(config);

	return path ? pm_store_write(&store, path, idle, err) : pm_err_nomem(err);
}

int pm_idle_mark(const struct pm_config *config, struct pm_err *err)
{
	struct pm_idle idle = {.since_s = pm_journal_clock()};
	int rc = pm_kernel_boot_id(config->fs_root, idle.boot_id, err);

	return rc ? rc : write_mark(config, &idle, err);
}

int pm_idle_mark_offline(const struct pm_config *config, struct pm_err *err)
{
	struct pm_idle idle;
	int rc;

	if (!pm_idle_read(config, &idle))
		return 0;
	rc = pm_kernel_boot_id(config->fs_root, idle.boot_id, err);
	idle.is_offline = true;
	return rc ? rc : write_mark(config, &idle, err);
}

int pm_idle_forget(const struct pm_config *config, struct pm_err *err)
{
	cleanup_free char *path = path_of(config);

	return path ? pm_store_remove(path, err) : pm_err_nomem(err);
}

bool pm_idle_read(const struct pm_config *config, struct pm_idle *ret)
{
	cleanup_free char *path = path_of(config);
	char boot_id[PM_BOOT_ID_MAX];

	*ret = (struct pm_idle){0};
	if (!path || (access(path, F_OK) && errno == ENOENT))
		return !path;
	if (pm_store_read(&store, path, ret, NULL) ||
		pm_kernel_boot_id(config->fs_root, boot_id, NULL) || strcmp(ret->boot_id, boot_id))
		*ret = (struct pm_idle){0};
	return true;
}

bool pm_idle_is_online(const struct pm_config *config)
{
	struct pm_idle idle;

	return pm_idle_read(config, &idle) && !idle.is_offline;
}

static bool is_over(const struct pm_config *config, const struct pm_idle *idle)
{
	uint64_t now_s = pm_journal_clock();

	return now_s < idle->since_s || now_s - idle->since_s >= config->substate_idle_s;
}

bool pm_idle_is_due(const struct pm_config *config)
{
	struct pm_idle idle;

	return pm_idle_read(config, &idle) && is_over(config, &idle) &&
	       !pm_idle_has_jobs(config, 0);
}

bool pm_idle_has_jobs(const struct pm_config *config, uint32_t job_id)
{
	cleanup_free char *path = pm_asprintf("%s/" PM_PROLOG_MARKS, config->run_dir);
	cleanup_dir DIR *dir = path ? opendir(path) : NULL;
	const struct dirent *entry;
	uint32_t id;

	if (!dir)
		return !path || errno != ENOENT;
	while ((entry = readdir(dir)))
		if (!pm_job_parse_id(entry->d_name, &id) && id != job_id)
			return true;
	return false;
}

int pm_idle_wipe_begin(const struct pm_config *config)
{
	cleanup_free char *path = lock_path(config);
	int fd = -1;

	return path && !pm_lock_take(path, "job idle", 0, &fd, NULL) ? fd : -1;
}

static int open_busy_lock(const struct pm_config *config)
{
	cleanup_free char *path = lock_path(config);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	return -1;
}

bool pm_idle_wipe_runs(const struct pm_config *config)
{
	cleanup_close int fd = open_busy_lock(config);

	return fd >= 0;
}

static bool kill_other(void *context, int pid)
{
	(void)context;
	if (pid != getpid())
		(void)kill(pid, SIGKILL);
	return true;
}

void pm_idle_wipe_stop(const struct pm_config *config)
{
	cleanup_close int fd = open_busy_lock(config);
	uint64_t end_ms = pm_now_ms() + KILL_MS;

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && pm_now_ms() < end_ms) {
		pm_holder_each(fd, kill_other, NULL);
		pm_pause_ms(STEP_MS);
	}
}
