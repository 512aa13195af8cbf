/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/srun.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/strv.h"

static bool type_has(const char *word)
{
	const char *type = getenv("SLURM_CPU_BIND_TYPE");
	cleanup_with(pm_strv_cleanup) char **words = type ? pm_strv_split(type, ",:") : NULL;

	return pm_strv_contains(words, word);
}

bool pm_srun_cpus(cpu_set_t *ret)
{
	return type_has("mask_cpu") && !pm_cpumasks_parse(getenv("SLURM_CPU_BIND_LIST"), ret);
}

const char *pm_srun_users_binding(void)
{
	static const char *const words[] = {
		"map_cpu", "map_ldom", "mask_ldom", "rank", "rank_ldom"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (type_has(words[i]))
			return words[i];
	return NULL;
}
