/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "plan/plan.h"

static const char *const binds[PM_BINDS] = {"socket", "none"};
static const char *const distributions[PM_DISTRIBUTIONS] = {"block", "cyclic"};
static const char *const smts[PM_SMTS] = {"no", "threads", "helpers"};
static const char *const mem_policies[PM_MEM_POLICIES] = {
	[PM_MEM_POLICY_AUTO] = "auto",
	[PM_MEM_POLICY_DRAM_FIRST] = "dram-first",
	[PM_MEM_POLICY_PM_ONLY] = "pm-only",
	[PM_MEM_POLICY_INTERLEAVE] = "interleave",
	[PM_MEM_POLICY_WEIGHTED] = "weighted",
	[PM_MEM_POLICY_NONE] = "none",
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

const char *pm_mem_policy_name(enum pm_mem_policy policy)
{
	return mem_policies[policy];
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

int pm_mem_policy_parse(const char *name, enum pm_mem_policy *ret)
{
	int i = find(mem_policies, PM_MEM_POLICIES, name);

	if (i >= 0)
		*ret = (enum pm_mem_policy)i;
	return i < 0 ? i : 0;
}
