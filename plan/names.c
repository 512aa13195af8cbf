/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "plan/plan.h"

static const char *const binds[PM_BINDS] = {"socket", "none"};
static const char *const distributions[PM_DISTRIBUTIONS] = {"block", "cyclic"};
static const char *const smts[PM_SMTS] = {"no", "threads", "helpers"};
static const char *const placements[PM_PLACEMENTS] = {
	[PM_PLACEMENT_AUTO] = "auto",
	[PM_PLACEMENT_DRAM_FIRST] = "dram-first",
	[PM_PLACEMENT_PM_ONLY] = "pm-only",
	[PM_PLACEMENT_INTERLEAVE] = "interleave",
	[PM_PLACEMENT_WEIGHTED] = "weighted",
	[PM_PLACEMENT_NONE] = "none",
};

/* The index of a name; -EINVAL. */
static int find(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -EINVAL;
}

const char *pm_bind_name(enum pm_bind bind)
{
	return binds[bind];
}

const char *pm_distribution_name(enum pm_distribution distribution)
{
	return distributions[distribution];
}

const char *pm_smt_name(enum pm_smt smt)
{
	return smts[smt];
}

const char *pm_placement_name(enum pm_placement placement)
{
	return placements[placement];
}

int pm_bind_parse(const char *name, enum pm_bind *ret)
{
	int i = find(binds, PM_BINDS, name);

	if (i >= 0)
		*ret = (enum pm_bind)i;
	return i < 0 ? i : 0;
}

int pm_distribution_parse(const char *name, enum pm_distribution *ret)
{
	int i = find(distributions, PM_DISTRIBUTIONS, name);

	if (i >= 0)
		*ret = (enum pm_distribution)i;
	return i < 0 ? i : 0;
}

int pm_smt_parse(const char *name, enum pm_smt *ret)
{
	int i = find(smts, PM_SMTS, name);

	if (i >= 0)
		*ret = (enum pm_smt)i;
	return i < 0 ? i : 0;
}

int pm_placement_parse(const char *name, enum pm_placement *ret)
{
	int i = find(placements, PM_PLACEMENTS, name);

	if (i >= 0)
		*ret = (enum pm_placement)i;
	return i < 0 ? i : 0;
}
