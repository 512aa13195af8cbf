/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/clusters_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "controller/federation.h"
#include "site/config.h"

#define HEAD	  "slurm-pmem-clusters 1\n"
#define MAX_BYTES (1024 * 1024)

struct place {
	const char *config_path, *run_dir, *own_cluster;
	bool first; /* since the service began */
};

static bool is_same(const char *path, const char *text)
{
	cleanup_free char *old = NULL;

	return !pm_file_read(AT_FDCWD, path, MAX_BYTES, &old, NULL, NULL) && !strcmp(old, text);
}

static int replace(
	const struct place *place, const char *with, const char *without, struct pm_err *err)
{
	cleanup_free char *path = pm_asprintf("%s/clusters", place->run_dir);
	cleanup_free char *text = pm_asprintf(HEAD "%s\n", without ? with : "");
	bool same;

	if (!path || !text)
		return pm_err_nomem(err);
	same = is_same(path, text);
	if (without && (place->first || !same))
		fprintf(stderr,
			"federation: jobs with a mode go to %s alone, since %s offers no modes or "
			"does not answer; write Clusters=%s into pmem.conf to keep it so\n",
			with, without, with);
	return same ? 0 : pm_file_write(path, 0644, text, strlen(text), err);
}

static int write_file(const struct place *place, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_free char *with = NULL, *without = NULL;
	int rc = pm_config_load(place->config_path, &config, err);

	if (rc)
		return rc;
	if (strcmp(config.clusters, "none") != 0)
		return replace(place, NULL, NULL, err);
	if (pm_federation_offers(place->own_cluster, &with, &without))
		return 0; /* the service says that slurmctld does not answer */
	return replace(place, with, with ? without : NULL, err);
}

static void write_or_say(const void *context)
{
	struct pm_err err;

	if (write_file(context, &err))
		fprintf(stderr, "%s\n", err.text);
}

void pm_clusters_turn(struct pm_child *child, const char *config_path, const char *run_dir,
	const char *own_cluster)
{
	const struct place place = {config_path, run_dir, own_cluster, !child->started_ms};

	if (pm_child_turn(child, write_or_say, &place))
		fprintf(stderr, "the clusters of the federation: no answer in 60 s; those of "
				"before stay\n");
}
