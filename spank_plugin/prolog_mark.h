/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROLOG_MARK_H
#define PM_PROLOG_MARK_H

/*
 * The mark of a job says that its prolog has begun on this node: the file RunDir/prologs/ID, which
 * root alone sees. Its epilog removes it. When slurmd starts, the marks that are there move to
 * RunDir/prologs/earlier: slurmd has forgotten the prologs that they stand for.
 */
#include <stdbool.h>
#include <stdint.h>

#include "lib/config.h"
#include "lib/err.h"

int pm_prolog_mark(const struct pm_config *config, uint32_t job_id, struct pm_err *err);
void pm_prolog_unmark(const struct pm_config *config, uint32_t job_id);

/* For a slurmd that starts. */
void pm_prolog_marks_age(const struct pm_config *config);

/* Under the slurmd of now, which so has received slurmctld's order for it. */
bool pm_prolog_is_marked(const struct pm_config *config, uint32_t job_id);

/* Under this slurmd or an earlier one. */
bool pm_prolog_has_begun(const struct pm_config *config, uint32_t job_id);

#endif
