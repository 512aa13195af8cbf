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

/* GCC: an enum without negative values is compatible with unsigned. */
static int parse(const char *const *names, unsigned n, const char *name, unsigned *ret)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(names[i], name))
			continue;
		*ret = i;
		return 0;
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

const char *pm_mem_policy_name(enum pm_mem_policy policy)
{
	return mem_policies[policy];
}

int pm_bind_parse(const char *name, enum pm_bind *ret)
{
	return parse(binds, PM_BINDS, name, ret);
}

int pm_distribution_parse(const char *name, enum pm_distribution *ret)
{
	return parse(distributions, PM_DISTRIBUTIONS, name, ret);
}

int pm_smt_parse(const char *name, enum pm_smt *ret)
{
	return parse(smts, PM_SMTS, name, ret);
}

int pm_mem_policy_parse(const char *name, enum pm_mem_policy *ret)
{
	return parse(mem_policies, PM_MEM_POLICIES, name, ret);
}
