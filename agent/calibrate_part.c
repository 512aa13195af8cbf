/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/calibrate_part.h"

#include <errno.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"

char *pm_calibrate_part_path(const char *output)
{
	return pm_asprintf("%s.part", output);
}

/* The first thing that differs; NULL: none. */
static const char *difference(const struct pm_site_profile *part, const struct pm_site_profile *now)
{
	if (strcmp(part->class, now->class) != 0)
		return "class";
	if (strcmp(part->host, now->host) != 0)
		return "host";
	if (strcmp(part->cpu, now->cpu) != 0)
		return "processor";
	return strcmp(part->kernel, now->kernel) != 0 ? "kernel" : NULL;
}

int pm_calibrate_part_load(const char *path, struct pm_site_profile *profile, struct pm_err *err)
{
	struct pm_site_profile part = {0};
	const char *differs;
	int rc = pm_site_profile_load(path, &part, err);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	differs = difference(&part, profile);
	if (differs) {
		pm_site_profile_done(&part);
		return pm_err_set(err, -ESTALE,
			"'%s' is from a calibration with another %s, and cannot be continued; "
			"remove it, "
			"or choose another --output",
			path, differs);
	}
	profile->sockets = part.sockets;
	profile->n_sockets = part.n_sockets;
	profile->loops = part.loops;
	profile->n_loops = part.n_loops;
	return 0;
}

int pm_calibrate_part_save(
	const char *path, const struct pm_site_profile *profile, struct pm_err *err)
{
	cleanup_free char *text = pm_site_profile_format(profile);

	return text ? pm_file_write(path, 0644, text, strlen(text), err) : pm_err_nomem(err);
}
