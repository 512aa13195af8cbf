/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FEATURES_H
#define PM_FEATURES_H

/*
 * Slurm's constraint expressions (sbatch --constraint), as far as they speak of our features.
 *
 * Grammar: term { ('&' | ',' | '|') term }, term = name | '(' expression ')' |
 * '[' expression ']', each optionally followed by '*' and a count. As in slurmctld, '&' and '|'
 * bind alike and are taken from left to right. A name that starts with "pm_" is ours: true when
 * it is the feature of the mode the node is in. Any other name counts as true: slurmctld has
 * already chosen the node by it.
 */
#include <stdbool.h>

#include "lib/err.h"
#include "lib/modes.h"

/*
 * Does a node in `mode` satisfy the expression? NULL and "" are satisfied by every mode.
 * -EINVAL: the expression cannot be read (unbalanced, empty term, nested deeper than 16).
 */
int pm_features_allow(const char *expr, enum pm_mode mode, bool *ret, struct pm_err *err);

/* Does any term of the expression start with "pm_"? Never fails; NULL mentions nothing. */
bool pm_features_mention(const char *expr);

#endif
