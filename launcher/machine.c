/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "launcher/allowed.h"
#include "launcher/cache.h"
#include "launcher/slurm_node.h"
#include "plan/machine_words.h"
#include "site/plan.h"

/* --topology is another machine, so the CPUs allowed on this one do not matter. */
static int load_file(struct pm_topology_source *source, const char *xml, struct pm_topology **ret,
	struct pm_err *err)
{
	int rc;

	source->xml = xml;
	rc = pm_topology_load(ret, source, err);
	return rc ? pm_err_prefix(err, "--topology") : 0;
}

static int load_words(
	const char *text, const char *option, struct pm_topology **ret, struct pm_err *err)
{
	cleanup_with(pm_machine_words_done) struct pm_machine_words words = {0};
	struct pm_topology_source source = {0};
	int rc = pm_machine_words_read(text, &words, err);

	source.synthetic = words.synthetic;
	source.hints = words.hints;
	source.n_hints = words.n_hints;
	if (!rc)
		rc = pm_topology_load(ret, &source, err);
	return rc ? pm_err_prefix(err, "%s", option) : 0;
}

/* A node of Slurm, or those of a partition. */
static int load_slurm(const struct pm_run_given *given, const struct pm_config *config,
	struct pm_topology **ret, struct pm_err *err)
{
	const char *node = given->value[PM_RUN_NODE], *partition = given->value[PM_RUN_PARTITION];
	const char *path = given->value[PM_RUN_CONFIG], *option = node ? "--node" : "--partition";
	cleanup_free char *words = NULL;
	int rc = node ? pm_slurm_node_words(path, config, node, &words, err)
		      : pm_slurm_partition_words(path, config, partition, &words, err);

	if (rc)
		return pm_err_prefix(err, "%s", option);
	fprintf(stderr,
		"pmrun: %s=%s is planned as --machine=%s: cores as in Slurm, memory as jobs get it "
		"by pmem.conf\n",
		option, node ? node : partition, words);
	return load_words(words, option, ret, err);
}

static int load_this(const struct pm_memory_hint *hints, size_t n_hints, const struct pm_rank *rank,
	struct pm_topology **ret, struct pm_err *err)
{
	cpu_set_t allowed;
	struct pm_topology_source source = {.cpus = &allowed, .hints = hints, .n_hints = n_hints};

	pm_allowed_cpus(rank, &allowed);
	if (!rank->launcher)
		return pm_topology_load(ret, &source, err);
	return pm_cache_load(pm_launcher_process(rank), &source, ret, err);
}

int pm_machine_load(const struct pm_run_given *given, const struct pm_rank *rank,
	const struct pm_config *config, struct pm_topology **ret, struct pm_err *err)
{
	cleanup_free struct pm_memory_hint *hints = NULL;
	struct pm_topology_source source = {0};
	const char *xml = given->value[PM_RUN_TOPOLOGY];
	int rc = 0;

	if (pm_run_has(given, PM_RUN_MACHINE))
		return load_words(given->value[PM_RUN_MACHINE], "--machine", ret, err);
	if (pm_run_has(given, PM_RUN_NODE) || pm_run_has(given, PM_RUN_PARTITION))
		return load_slurm(given, config, ret, err);
	if (!xml || pm_run_has(given, PM_RUN_CONFIG))
		rc = pm_topology_heed_site(&source, config, &hints, err);
	if (rc)
		return rc;
	return xml ? load_file(&source, xml, ret, err)
		   : load_this(source.hints, source.n_hints, rank, ret, err);
}

/* A node of the socket's main memory; -1: no such socket, or none of it may be used. */
static int node_of_socket(const struct pm_topology *topology, int socket)
{
	for (unsigned i = 0; i < topology->n_domains; i++) {
		const struct pm_domain *domain = &topology->domains[i];

		if (topology->packages[domain->package].number == socket && domain->dram >= 0)
			return topology->nodes[domain->dram].node;
	}
	return -1;
}

int pm_machine_directories(const struct pm_config *config, const struct pm_topology *topology,
	struct pm_jobview *view, struct pm_pmem_dir **ret, unsigned *ret_n, struct pm_err *err)
{
	int rc = pm_jobview_find(config, view, err);
	struct pm_pmem_dir *dirs;
	unsigned n = 0;

	if (rc)
		return rc;
	dirs = calloc(view->n + 1, sizeof(*dirs));
	if (!dirs)
		return pm_err_nomem(err);
	for (size_t i = 0; i < view->n; i++) {
		const struct pm_allotment *allotment = &view->allotments[i];
		int node = node_of_socket(topology, allotment->socket);

		if (allotment->kind == PM_ALLOTMENT_DIR && node >= 0)
			dirs[n++] = (struct pm_pmem_dir){.node = node, .path = allotment->value};
	}
	*ret = dirs;
	*ret_n = n;
	return 0;
}
