/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/federation.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/asprintf.h"
#include "controller/node_features.h"

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

static bool offers_modes(slurmdb_cluster_rec_t *cluster)
{
	node_info_msg_t *nodes = NULL;
	bool has = false;

	if (slurm_load_node2(0, &nodes, SHOW_ALL, cluster))
		return false;
	for (uint32_t i = 0; i < nodes->record_count && !has; i++)
		has = pm_node_has_modes(&nodes->node_array[i]);
	slurm_free_node_info_msg(nodes);
	return has;
}

int pm_federation_offers(const char *own_cluster, char **ret_with, char **ret_without)
{
	const slurmdb_federation_rec_t *federation;
	slurmdb_cluster_rec_t *cluster;
	void *loaded = NULL;

	*ret_with = *ret_without = NULL;
	if (slurm_load_federation(&loaded))
		return -EREMOTEIO;
	federation = loaded;
	if (federation && federation->cluster_list) {
		__auto_type all = slurm_list_iterator_create(federation->cluster_list);

		while ((cluster = slurm_list_next(all))) {
			char **list = ret_without;

			if (!cluster->name)
				continue;
			if (!strcasecmp(cluster->name, own_cluster) || offers_modes(cluster))
				list = ret_with;
			*list = append(*list, cluster->name);
		}
		slurm_list_iterator_destroy(all);
	}
	if (loaded)
		slurm_destroy_federation_rec(loaded);
	return 0;
}
