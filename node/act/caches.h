/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CACHES_H
#define PM_AGENT_CACHES_H

/*
 * Has the kernel write its caches to disk and give them up, so that memory can be taken back.
 *
 * What a job has left in them fills the nodes of persistent memory, and is nobody's any more. And
 * demotion takes there what has not been used for a while, also a file system's own records. These
 * cannot be moved as long as anybody holds their buffers (Linux 6.12, mm/migrate.c,
 * buffer_migrate_folio_norefs), and ext4's journal holds what it has written until it writes again:
 * on a node that is idle, for ever. EXT4_IOC_CHECKPOINT (Linux 5.14,
 * Documentation/filesystems/ext4/journal.rst) has it let go.
 */
#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "site/config.h"

/* Once. An error: the mounts cannot be read, or the caches not be given up. */
int pm_caches_evict(const struct pm_config *config, struct pm_err *err);

/* And again every few seconds: what is in use while one looks may be held when it is needed. */
struct pm_caches_evictor {
	const struct pm_config *config;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool is_over;
};

/* Empties them once, as above, and goes on in a thread until pm_caches_evictor_stop(), which is
 * called only after success. */
int pm_caches_evictor_start(
	struct pm_caches_evictor *evictor, const struct pm_config *config, struct pm_err *err);
void pm_caches_evictor_stop(struct pm_caches_evictor *evictor);

#endif
