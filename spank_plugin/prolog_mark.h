/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROLOG_MARK_H
#define PM_PROLOG_MARK_H

/*
 * The mark of a job says that its prolog has begun on this node, and which process waits for its
 * end: slurmd, or slurmstepd where PrologFlags has RunInJob. It is the file RunDir/prologs/ID,
 * which root alone sees. The job's epilog removes it; RunDir does not outlive a boot.
 */
#include <stdbool.h>
#include <stdint.h>

#include "site/config.h"
#include "base/err.h"

/* For the prolog itself, a child of the process that waits for it. */
int pm_prolog_mark(const struct pm_config *config, uint32_t job_id, struct pm_err *err);
void pm_prolog_unmark(const struct pm_config *config, uint32_t job_id);

bool pm_prolog_is_marked(const struct pm_config *config, uint32_t job_id);

/* Does the process that waits for the prolog's end still live? A slurmd that gives way to a new one
 * leaves the prolog behind, which may begin its work after that. */
bool pm_prolog_is_waited_for(const struct pm_config *config, uint32_t job_id);

#endif
