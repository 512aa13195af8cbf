/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CACHES_H
#define PM_AGENT_CACHES_H

/*
 * Eviction of caches: the kernel writes its caches back and drops them, so that memory can be
 * offlined.
 *
 * Pages that ended jobs have left in caches fill the NUMA nodes of persistent memory. Demotion
 * moves more pages to these nodes: pages that were not used for a while, and buffers of a file
 * system's own metadata. A buffer cannot be migrated while it is referenced (Linux 6.12,
 * mm/migrate.c, buffer_migrate_folio_norefs). The journal of ext4 keeps its buffers referenced
 * until its next write, which never comes on an idle node. EXT4_IOC_CHECKPOINT (Linux 5.14,
 * Documentation/filesystems/ext4/journal.rst) releases them.
 */
#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Evicts once: sync(2), checkpoint of each ext4, drop_caches of the page cache (proc_sys_vm(5)).
 * Fails if mountinfo cannot be read or drop_caches cannot be written.
 */
int pm_caches_evict(const struct pm_config *config, struct pm_err *err);

/*
 * A thread that evicts every few seconds: a page that is in use during one eviction may be free
 * during the next.
 */
struct pm_caches_evictor {
	const struct pm_config *config;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool is_over;
};

/*
 * Evicts once, then starts the thread. After success, and only then, call
 * pm_caches_evictor_stop(), which joins it. `config` must live until then.
 */
int pm_caches_evictor_start(
	struct pm_caches_evictor *evictor, const struct pm_config *config, struct pm_err *err);
void pm_caches_evictor_stop(struct pm_caches_evictor *evictor);

#endif
