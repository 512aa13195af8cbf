/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_CACHE_H
#define PM_LAUNCHER_CACHE_H

#include <sys/types.h>

#include "plan/topology.h"

/*
 * The machine, discovered once for all ranks that one launcher starts on this node: the first rank
 * writes it down in a private directory of the user's (pmrun-UID in XDG_RUNTIME_DIR, else in
 * TMPDIR, else in /tmp), the others read that. The file is named after the launcher's process,
 * which also tells when it may go: whoever discovers takes away those of launchers that have ended.
 *
 * It is for speed alone: where the directory is not ours alone or nothing can be written there,
 * each rank discovers. Errors are those of pm_topology_load().
 */
int pm_cache_load(pid_t launcher, const struct pm_topology_source *source, struct pm_topology **ret,
	struct pm_err *err);

#endif
