/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROLOG_MARK_H
#define PM_PROLOG_MARK_H

/*
 * The mark of a job says that its prolog has begun on this node, so slurmd has received slurmctld's
 * order for it. It is root's file RunDir/prologs/ID, and is removed by the job's epilog or the next
 * start of slurmd.
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
