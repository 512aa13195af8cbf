/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/federation.h"

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/asprintf.h"

/* "one" and "two" to "one,two"; frees `list`, which may be NULL. */
static char *append(char *list, const char *name)
{
	char *longer = list ? pm_asprintf("%s,%s", list, name) : strdup(name);

	free(list);
	return longer;
}

static char *names_but(const slurmdb_federation_rec_t *federation, const char *own)
{
	/* releases name its type differently */
	__auto_type all = slurm_list_iterator_create(federation->cluster_list);
	const slurmdb_cluster_rec_t *cluster;
	char *names = NULL;

	while ((cluster = slurm_list_next(all)))
		if (cluster->name && strcasecmp(cluster->name, own) != 0)
			names = append(names, cluster->name);
	slurm_list_iterator_destroy(all);
	return names;
}

char *pm_federation_others(const char *own_cluster, char **ret_federation)
{
	void *loaded = NULL;
	const slurmdb_federation_rec_t *federation;
	char *names = NULL;

	if (slurm_load_federation(&loaded) || !loaded)
		return NULL;
	federation = loaded;
	if (own_cluster && federation->name && federation->cluster_list)
		names = names_but(federation, own_cluster);
	if (names)
		*ret_federation = strdup(federation->name);
	slurm_destroy_federation_rec(loaded);
	if (names && *ret_federation)
		return names;
	free(names);
	return NULL;
}
