/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FEATURES_H
#define PM_FEATURES_H

/*
 * Slurm's constraint expressions (sbatch --constraint), as far as they speak of our features.
 *
 *	level = item { ('&' | ',' | '|') item }
 *	item  = name [count] | '(' level ')' [count] | '[' level ']'
 *	count = '*' digits, not all 0, 9 at most
 *
 * 1024 characters at most, as Slurm has it. Inside '[' no other '[' opens, and inside '(' none at
 * all, nor does a count stand there. A name is what slurmctld takes for one (build_feature_list()
 * of 22.05, _feature_string2list() of 24.11): all bytes but the operators. Blanks, control
 * characters and !"'`\ are refused, as Slurm would look for a feature with such a name. An operator
 * at the end, or text behind a count or a bracket, which Slurm skips, is refused too.
 *
 * A name that starts with "pm_" is ours: true when it is the feature of the mode the node is in.
 * Any other name counts as true: slurmctld has already chosen the node by it. ',' is '&'. With one
 * of our names, '&' and '|' on one level are refused: releases of Slurm differ in which binds
 * first.
 *
 * pmem_constraint.lua reads the same; tests/fixtures/constraints.tsv is the table of both.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "site/modes.h"

struct pm_features {
	unsigned
		modes; /* those that a node may be in, 1 << enum pm_mode; UNKNOWN: one of no mode */
	bool mentioned; /* one of its names is ours */
};

/*
 * NULL and "" allow every mode. -EINVAL: the expression cannot be read, "read constraint 'X': a
 * feature expected at character 3, not '&'"; *ret is untouched.
 */
int pm_features_read(const char *expr, struct pm_features *ret, struct pm_err *err);

static inline bool pm_features_allow(const struct pm_features *features, enum pm_mode mode)
{
	return features->modes & (1u << mode);
}

/* Is this name one of ours? */
bool pm_features_is_ours(const char *name);

/*
 * Does a text that may not even be readable hold "pm_" anywhere? Where it does, a text that cannot
 * be read must not be taken for one that does not speak of us. NULL does not.
 */
bool pm_features_may_be_ours(const char *expr);

#endif
