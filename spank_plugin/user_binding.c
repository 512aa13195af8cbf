/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/user_binding.h"

#include <string.h>

#include "base/units.h"

#define MAX_VALUE 4096

/* True if the variable is set and not empty. A list of masks may be longer than `value`. */
static bool is_said(spank_t sp, const char *name)
{
	char value[MAX_VALUE] = "";
	spank_err_t rc = spank_getenv(sp, name, value, sizeof(value));

	return rc == ESPANK_NOSPACE || (rc == ESPANK_SUCCESS && *value);
}

/* "block:cyclic:block,Pack": nodes, sockets, cores. */
static void read_distribution(spank_t sp, struct pm_user_binding *ret)
{
	char value[MAX_VALUE] = "", *sockets;

	if (spank_getenv(sp, "SLURM_DISTRIBUTION", value, sizeof(value)) != ESPANK_SUCCESS)
		return;
	sockets = strchr(value, ':');
	if (!sockets++)
		return;
	sockets[strcspn(sockets, ":,")] = '\0';
	ret->has_distribution = !pm_distribution_parse(sockets, &ret->distribution);
}

static unsigned read_cpus_per_task(spank_t sp)
{
	char value[16] = "";
	uint64_t number;

	if (spank_getenv(sp, "SLURM_CPUS_PER_TASK", value, sizeof(value)) != ESPANK_SUCCESS ||
		pm_parse_u64(value, &number) || number > CPU_SETSIZE)
		return 0;
	return (unsigned)number;
}

void pm_user_binding_read(spank_t sp, struct pm_user_binding *ret)
{
	*ret = (struct pm_user_binding){
		.cpus = is_said(sp, "SLURM_CPU_BIND_TYPE"),
		.memory = is_said(sp, "SLURM_MEM_BIND_TYPE"),
		.cpus_per_task = read_cpus_per_task(sp),
	};
	read_distribution(sp, ret);
}
