/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FEATURES_H
#define PM_FEATURES_H

/*
 * Slurm's constraint expressions (sbatch --constraint), as far as they name the features of modes.
 *
 *	level = item { ('&' | ',' | '|') item }
 *	item  = name [count] | '(' level ')' [count] | '[' level ']'
 *	count = '*' digits, not all 0, 9 at most
 *
 * 1024 characters at most, as Slurm has it. '[' opens only at the outermost level; inside '('
 * neither bracket opens, and no count stands. A name is any run of bytes without operators, as
 * slurmctld reads it (build_feature_list() of 22.05, _feature_string2list() of 24.11). Blanks,
 * control characters and !"'`\ are refused, as Slurm would look for a feature with such a name. An
 * operator at the end, or text after a count or a bracket, which Slurm skips, is refused too.
 *
 * A name that starts with "pm_" is true if it is the feature of the node's mode. Any other name
 * counts as true: slurmctld has already chosen the node by it. ',' is '&'. An expression that has a
 * name with "pm_" and mixes '&' and '|' on one level is refused: releases of Slurm differ in which
 * operator binds first.
 *
 * pmem_constraint.lua reads the same; tests/fixtures/constraints.tsv has the test cases of both.
 */
#include <stdbool.h>

#include "base/err.h"
#include "site/modes.h"

struct pm_features {
	/* The modes that a node may be in, 1 << enum pm_mode for each; PM_MODE_UNKNOWN: a node of
	 * unknown mode will do. */
	unsigned modes;
	bool mentioned; /* a name in the expression begins with "pm_" */
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

/* True: the name begins with "pm_". */
bool pm_features_is_ours(const char *name);

/*
 * True: "pm_" is anywhere in the text, which may be malformed: an expression that cannot be parsed
 * may still name a mode. False for NULL.
 */
bool pm_features_may_be_ours(const char *expr);

#endif
