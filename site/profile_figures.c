/* SPDX-License-Identifier: Apache-2.0 */
#include "site/profile_figures.h"

#include <stdlib.h>

#define FIGURES_OF_PACKAGE 4

/* What a socket's row has of a memory: values, or else the largest point of a loop. */
static const struct memory {
	bool is_remote, is_pmem;
	enum pm_measured_place place;
	enum pm_measured_value latency;
} memories[FIGURES_OF_PACKAGE] = {
	{false, false, PM_PLACE_DRAM, PM_VALUE_DRAM_RANDOM},
	{false, true, PM_PLACE_PMEM, PM_VALUE_PMEM_RANDOM},
	{true, false, PM_PLACE_REMOTE_DRAM, PM_VALUE_REMOTE_DRAM_RANDOM},
	{true, true, PM_PLACE_REMOTE_PMEM, PM_VALUE_REMOTE_PMEM_RANDOM},
};

static uint64_t value_of(const struct pm_site_socket *socket, enum pm_measured_value name)
{
	const struct pm_site_value *value = pm_site_socket_value(socket, name);

	return value ? value->measure.value : 0;
}

static uint64_t peak_of(const struct pm_site_socket *socket, enum pm_measured_loop name,
	enum pm_measured_place place)
{
	const struct pm_site_loop *loop = pm_site_loop(socket->loops, socket->n_loops, name, place);
	uint64_t peak = 0;

	for (size_t i = 0; loop && i < loop->n_points; i++)
		if (loop->points[i].measure.value > peak)
			peak = loop->points[i].measure.value;
	return peak;
}

/* A reference may have the value alone. */
static uint64_t first_of(uint64_t value, uint64_t peak)
{
	return value ? value : peak;
}

static uint64_t read_rate(const struct pm_site_socket *socket, const struct memory *memory)
{
	uint64_t peak = peak_of(socket, PM_LOOP_READ, memory->place);

	if (memory->is_remote)
		return peak;
	return first_of(
		value_of(socket, memory->is_pmem ? PM_VALUE_PMEM_READ : PM_VALUE_DRAM_READ), peak);
}

static uint64_t write_rate(const struct pm_site_socket *socket, const struct memory *memory)
{
	uint64_t peak = peak_of(socket, PM_LOOP_WRITE, memory->place);

	if (memory->is_remote)
		return peak;
	return first_of(
		value_of(socket, memory->is_pmem ? PM_VALUE_PMEM_WRITE : PM_VALUE_DRAM_WRITE),
		peak);
}

/* The index of the memory's node, as calibrate chooses it: that of the package's first domain; -1:
 * none. */
static int node_of(
	const struct pm_topology *topology, unsigned package, const struct memory *memory)
{
	unsigned at = memory->is_remote ? (package + 1) % topology->n_packages : package;
	const struct pm_domain *domain = &topology->domains[topology->packages[at].first_domain];

	if (memory->is_remote && topology->n_packages == 1)
		return -1;
	return memory->is_pmem ? domain->pmem : domain->dram;
}

static size_t add_figures(const struct pm_site_socket *socket, const struct pm_topology *topology,
	unsigned package, struct pm_memory_figures *ret)
{
	size_t n = 0;

	for (unsigned i = 0; i < FIGURES_OF_PACKAGE; i++) {
		const struct memory *memory = &memories[i];
		int node = node_of(topology, package, memory);

		if (node >= 0)
			ret[n++] = (struct pm_memory_figures){package, (unsigned)node,
				read_rate(socket, memory), write_rate(socket, memory),
				value_of(socket, memory->latency)};
	}
	return n;
}

int pm_profile_figures(const struct pm_site_profile *profile, const struct pm_topology *topology,
	struct pm_memory_figures **ret, size_t *ret_n, struct pm_err *err)
{
	struct pm_memory_figures *figures =
		calloc(topology->n_packages * FIGURES_OF_PACKAGE + 1, sizeof(*figures));
	size_t n = 0;

	if (!figures)
		return pm_err_nomem(err);
	for (unsigned i = 0; i < topology->n_packages; i++) {
		const struct pm_site_socket *socket =
			pm_site_profile_socket(profile, (unsigned)topology->packages[i].number);

		if (socket)
			n += add_figures(socket, topology, i, figures + n);
	}
	*ret = figures;
	*ret_n = n;
	return 0;
}
