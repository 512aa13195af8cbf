/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/calibrate_sockets.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/own_topology.h"

/* The job's directory on that socket; NULL: none. */
static const char *directory_on(const struct pm_jobview *view, int socket)
{
	for (size_t i = 0; i < view->n; i++)
		if (view->allotments[i].kind == PM_ALLOTMENT_DIR &&
			view->allotments[i].socket == socket)
			return view->allotments[i].value;
	return NULL;
}

static bool find_places(const struct pm_calibrate_sockets *sockets,
	const struct pm_package *package, struct pm_calibrate_socket *socket)
{
	const struct pm_domain *domain = &sockets->topology->domains[package->first_domain];
	const struct pm_memory_node *nodes = sockets->topology->nodes;

	if (domain->dram < 0)
		return false;
	socket->dram = (struct pm_area_place){.node = nodes[domain->dram].node};
	socket->is_memory_mode = sockets->view.mode == PM_MODE_MEMORY;
	if (socket->is_memory_mode)
		return true;
	socket->pmem =
		(struct pm_area_place){.node = domain->pmem >= 0 ? nodes[domain->pmem].node : -1};
	if (domain->pmem < 0)
		socket->pmem.dir = directory_on(&sockets->view, package->number);
	return domain->pmem >= 0 || socket->pmem.dir;
}

static void add_socket(struct pm_calibrate_sockets *sockets, const struct pm_package *package)
{
	struct pm_calibrate_socket *socket = &sockets->list[sockets->n];
	int *cpus = sockets->cpus + package->first_core;

	for (unsigned i = 0; i < package->n_cores; i++)
		cpus[i] = sockets->topology->cores[package->first_core + i].cpus[0];
	socket->number = (unsigned)package->number;
	socket->cpus = cpus;
	socket->n_cpus = package->n_cores;
	sockets->n += find_places(sockets, package, socket);
}

int pm_calibrate_sockets(
	const struct pm_config *config, struct pm_calibrate_sockets *ret, struct pm_err *err)
{
	int rc = pm_own_topology(config, &ret->topology, err);

	if (!rc)
		rc = pm_jobview_find(config, &ret->view, err);
	if (rc)
		return rc;
	ret->list = calloc(ret->topology->n_packages, sizeof(*ret->list));
	ret->cpus = calloc(ret->topology->n_cores, sizeof(*ret->cpus));
	if (!ret->list || !ret->cpus)
		return pm_err_nomem(err);
	for (unsigned i = 0; i < ret->topology->n_packages; i++)
		add_socket(ret, &ret->topology->packages[i]);
	return ret->n ? 0
		      : pm_err_set(err, -ENODEV,
				"no socket has persistent memory that this process may use; run it "
				"in a job with --pm-mode=flat, --pm-mode=appdirect or "
				"--pm-mode=memory");
}

void pm_calibrate_sockets_done(struct pm_calibrate_sockets *sockets)
{
	pm_topology_free(sockets->topology);
	pm_jobview_done(&sockets->view);
	free(sockets->list);
	free(sockets->cpus);
	*sockets = (struct pm_calibrate_sockets){0};
}
