/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strv.h"
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
	return pm_names_find(binds, PM_BINDS, name, ret);
}

int pm_distribution_parse(const char *name, enum pm_distribution *ret)
{
	return pm_names_find(distributions, PM_DISTRIBUTIONS, name, ret);
}

int pm_smt_parse(const char *name, enum pm_smt *ret)
{
	return pm_names_find(smts, PM_SMTS, name, ret);
}

int pm_mem_policy_parse(const char *name, enum pm_mem_policy *ret)
{
	return pm_names_find(mem_policies, PM_MEM_POLICIES, name, ret);
}
