/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SKIPPED_PROLOG_H
#define PM_SKIPPED_PROLOG_H

/*
 * slurmd 22.05 may start a requeued job without a prolog. It keeps the revoked credential of the
 * job's earlier run until its next scan for old ones, every two seconds at most, and until then
 * treats the job as prepared. So the node's mode and memory are not checked, and the job has no
 * allotments. The job's mark is missing then (prolog_mark.h).
 */
#include <slurm/spank.h>
#include <stdbool.h>

#include "site/config.h"
#include "base/err.h"

/*
 * At a step's start, in slurmstepd as root. `has_record`: this node has a job record of the job. 0:
 * the job had its prolog here; or it has no mode, and neither a view of an earlier run that its
 * tasks could take for their own nor idle flat memory is here; or it has a record but no view,
 * which task_init reports; or the step is the extern step. -EIO with the sentence for the user: the
 * tasks must not run; the job was requeued or cancelled.
 */
int pm_skipped_prolog_check(
	spank_t sp, const struct pm_config *config, bool has_record, struct pm_err *err);

#endif
