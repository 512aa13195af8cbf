/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "node/state/jobview.h"

static int from_environment(struct pm_jobview *view, struct pm_err *err)
{
	for (unsigned i = 0; i < PM_ALLOTMENTS_MAX; i++) {
		char name[24], socket_name[40];
		const char *path, *socket;
		uint64_t number;

		snprintf(name, sizeof(name), "PM_DIR%u", i);
		snprintf(socket_name, sizeof(socket_name), "%s_SOCKET", name);
		path = getenv(name);
		socket = getenv(socket_name);
		if (!path || !socket)
			return 0;
		if (pm_parse_u64(socket, &number) || number > INT16_MAX)
			return pm_err_set(err, -EINVAL, "%s='%.32s' is not the number of a socket",
				socket_name, socket);
		if (pm_jobview_add(view, PM_ALLOTMENT_DIR, path, (int)number))
			return pm_err_set(err, -EINVAL, "%s='%.200s' is not a path", name, path);
	}
	return 0;
}

int pm_jobview_find(const struct pm_config *config, struct pm_jobview *ret, struct pm_err *err)
{
	const char *job = getenv("SLURM_JOB_ID");
	uint64_t number;

	if (!job || pm_parse_u64(job, &number) || number > UINT32_MAX)
		return from_environment(ret, err);
	if (!pm_jobview_read_of(
		    config->run_dir, (uint32_t)number, getuid(), config->fs_root, ret, NULL))
		return 0;
	return from_environment(ret, err);
}
