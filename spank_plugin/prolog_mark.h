/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROLOG_MARK_H
#define PM_PROLOG_MARK_H

/*
 * A job's prolog mark: its prolog has begun on this node. The mark is the file RunDir/prologs/ID,
 * which only root can see. It holds the pid of the process that waits for the prolog's end: slurmd,
 * or slurmstepd with PrologFlags=RunInJob. The epilog removes it; RunDir is empty after a boot.
 */
#include <stdbool.h>
#include <stdint.h>

#include "site/config.h"
#include "base/err.h"

/* Called in the prolog, a child of the process that waits for it: writes getppid(). */
int pm_prolog_mark(const struct pm_config *config, uint32_t job_id, struct pm_err *err);
void pm_prolog_unmark(const struct pm_config *config, uint32_t job_id);

bool pm_prolog_is_marked(const struct pm_config *config, uint32_t job_id);

/*
 * True if the process that waits for the prolog's end still lives. A slurmd that is replaced by a
 * new one leaves the prolog behind, which may begin its work after that.
 */
bool pm_prolog_is_waited_for(const struct pm_config *config, uint32_t job_id);

#endif
