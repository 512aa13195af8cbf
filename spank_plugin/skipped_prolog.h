/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SKIPPED_PROLOG_H
#define PM_SKIPPED_PROLOG_H

/*
 * slurmd 22.05 may start a requeued job without a prolog: it keeps the revoked credential of the
 * job's earlier run until it looks for old ones, which it does every two seconds at most, and until
 * then the job counts as prepared. So nothing has looked at the node's mode and memory, nor made
 * the job's place. The mark of the prolog is missing then (prolog_mark.h).
 */
#include <slurm/spank.h>
#include <stdbool.h>

#include "site/config.h"
#include "base/err.h"

/*
 * For a step that starts, as root; has_record: this node has given the job something. 0: the job
 * has had its prolog here, or has no mode, and an earlier run of it has left nothing that its tasks
 * could take for theirs. -EIO, with the sentence for the user: its tasks must not run; the job goes
 * back to the queue, or ends.
 */
int pm_skipped_prolog_check(
	spank_t sp, const struct pm_config *config, bool has_record, struct pm_err *err);

#endif
