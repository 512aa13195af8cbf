/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_CACHE_H
#define PM_LAUNCHER_CACHE_H

#include <sys/types.h>

#include "plan/topology.h"

/*
 * Loads the topology, discovered once for all ranks that a launcher starts on this node. The first
 * rank writes it to a private directory of the user (pmrun-UID in XDG_RUNTIME_DIR, else in TMPDIR,
 * else in /tmp), the others read it there. The file is named after the launcher's process. A rank
 * that discovers also removes the files of launchers that have ended.
 *
 * This is only for speed: if the directory is not private or cannot be written, each rank
 * discovers. Errors are those of pm_topology_load().
 */
int pm_cache_load(pid_t launcher, const struct pm_topology_source *source, struct pm_topology **ret,
	struct pm_err *err);

#endif
