/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>

#include "base/cpulist.h"
#include "launcher/srun.h"
#include "tests/unit/tap.h"

static const struct {
	const char *mask;
	int rc;
	const char *cpus;
} masks[] = {
	{"0x1", 0, "0"},
	{"0x0F00", 0, "8-11"},
	{"0xf00000000000000000", 0, "68-71"},
	{"a", 0, "1,3"},
	{"0X5", 0, "0,2"},
	{"0x", -EINVAL, ""},
	{"", -EINVAL, ""},
	{"0xg", -EINVAL, ""},
	{"-1", -EINVAL, ""},
};

static void test_masks(void)
{
	char wide[300] = "0x";

	FOR_EACH(row, masks)
	{
		cpu_set_t set;
		char *list;

		CPU_ZERO(&set);
		is_number(pm_cpumask_add(row->mask, &set), row->rc, row->mask);
		list = pm_cpulist_format(&set);
		is_text(list, row->cpus, "its processors");
		free(list);
	}
	memset(wide + 2, 'f', 257);
	is_number(pm_cpumask_add(wide, &(cpu_set_t){0}), -EINVAL, "more than 1024 bits");
	memset(wide + 2, '0', 2);
	is_number(pm_cpumask_add(wide, &(cpu_set_t){0}), 0, "but for zeros in front");
}

static const struct {
	const char *type, *list;
	const char *cpus;  /* NULL: not told */
	const char *users; /* NULL: Slurm's own */
} tasks[] = {
	{"mask_cpu:", "0x1,0x2", "0-1", NULL},
	{"quiet,mask_cpu:", "0x3,0x3", "0-1", NULL},
	{"mask_cpu:", "", NULL, NULL},
	{"mask_cpu:", "0x0", NULL, NULL},
	{"mask_cpu:", "0x1,what", NULL, NULL},
	{"none", "", NULL, NULL},
	{"map_cpu:", "3,1", NULL, "map_cpu"},
	{"verbose,map_ldom:", "0", NULL, "map_ldom"},
	{"rank", "", NULL, "rank"},
	{"", "", NULL, NULL},
};

static void test_tasks(void)
{
	FOR_EACH(row, tasks)
	{
		cpu_set_t set;
		char *list = NULL;

		setenv("SLURM_CPU_BIND_TYPE", row->type, 1);
		setenv("SLURM_CPU_BIND_LIST", row->list, 1);
		if (pm_srun_cpus(&set))
			list = pm_cpulist_format(&set);
		is_text(list, row->cpus, row->type);
		is_text(pm_srun_users_binding(), row->users, "the user's binding");
		free(list);
	}
	clearenv();
	ok(!pm_srun_cpus(&(cpu_set_t){0}), "without variables nothing is told");
	is_text(pm_srun_users_binding(), NULL, "by nobody");
}

int main(void)
{
	test_masks();
	test_tasks();
	return tap_done();
}
