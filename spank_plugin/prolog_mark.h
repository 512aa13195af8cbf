/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROLOG_MARK_H
#define PM_PROLOG_MARK_H

/*
 * A mark for each job whose prolog has begun on this node: slurmd has had slurmctld's order for it.
 * A file RunDir/prologs/ID, root's; it goes with the job's epilog, or with the next start of
 * slurmd.
 */
#include <stdbool.h>
#include <stdint.h>

#include "lib/config.h"
#include "lib/err.h"

int pm_prolog_mark(const struct pm_config *config, uint32_t job_id, struct pm_err *err);
void pm_prolog_unmark(const struct pm_config *config, uint32_t job_id);
void pm_prolog_unmark_all(const struct pm_config *config);
bool pm_prolog_is_marked(const struct pm_config *config, uint32_t job_id);

#endif
