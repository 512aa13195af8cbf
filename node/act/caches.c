/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/act/caches.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cond.h"
#include "node/tools/knob.h"
#include "node/tools/mounts.h"

#define PAGES		"1"
#define PERIOD_S	3
#define EXT4_CHECKPOINT _IOW('f', 43, uint32_t) /* EXT4_IOC_CHECKPOINT, not in libc */

static const char drop_file[] = "proc/sys/vm/drop_caches";

/*
 * A failure is fine: a kernel before 5.14 has no such call, and a file system without a journal has
 * no buffers to release.
 */
static void checkpoint(const struct pm_config *config, const char *point)
{
	cleanup_close int fd = -1;
	char path[PATH_MAX];
	struct statfs is;
	uint32_t flags = 0;

	snprintf(path, sizeof(path), "%s/%s", config->fs_root, point);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !fstatfs(fd, &is) && is.f_type == EXT4_SUPER_MAGIC)
		(void)ioctl(fd, EXT4_CHECKPOINT, &flags);
}

/* A file system with several mount points is checkpointed once. */
static bool is_first_of(const struct pm_mounts *mounts, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(mounts->list[i].device, mounts->list[index].device))
			return false;
	return true;
}

static int checkpoint_all(const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	int rc = pm_mounts_load(config->fs_root, &mounts, err);

	for (size_t i = 0; !rc && i < mounts.n; i++)
		if (!strncmp(mounts.list[i].type, "ext", 3) && is_first_of(&mounts, i))
			checkpoint(config, mounts.list[i].point);
	return rc;
}

int pm_caches_evict(const struct pm_config *config, struct pm_err *err)
{
	int rc;

	sync();
	rc = checkpoint_all(config, err);
	return rc ? rc : pm_knob_write(config, drop_file, PAGES, err);
}

/* Waits for a period or the end; true at the end. The mutex is held. */
static bool wait_for_end(struct pm_caches_evictor *evictor)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PERIOD_S;
	while (!evictor->is_over &&
		!pthread_cond_timedwait(&evictor->changed, &evictor->mutex, &until))
		;
	return evictor->is_over;
}

static void *evict_repeatedly(void *argument)
{
	struct pm_caches_evictor *evictor = argument;

	pthread_mutex_lock(&evictor->mutex);
	while (!wait_for_end(evictor)) {
		pthread_mutex_unlock(&evictor->mutex);
		pm_caches_evict(evictor->config, NULL);
		pthread_mutex_lock(&evictor->mutex);
	}
	pthread_mutex_unlock(&evictor->mutex);
	return NULL;
}

int pm_caches_evictor_start(
	struct pm_caches_evictor *evictor, const struct pm_config *config, struct pm_err *err)
{
	int rc = pm_caches_evict(config, err);

	if (rc)
		return rc;
	*evictor = (struct pm_caches_evictor){.config = config, .mutex = PTHREAD_MUTEX_INITIALIZER};
	pm_cond_init(&evictor->changed);
	rc = pthread_create(&evictor->thread, NULL, evict_repeatedly, evictor);
	return rc ? pm_err_sys(err, -rc, "start a thread that empties caches") : 0;
}

void pm_caches_evictor_stop(struct pm_caches_evictor *evictor)
{
	pthread_mutex_lock(&evictor->mutex);
	evictor->is_over = true;
	pthread_cond_signal(&evictor->changed);
	pthread_mutex_unlock(&evictor->mutex);
	pthread_join(evictor->thread, NULL);
}
