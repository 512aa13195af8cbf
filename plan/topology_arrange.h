/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOPOLOGY_ARRANGE_H
#define PM_TOPOLOGY_ARRANGE_H

/*
 * Makes a topology of discovered cores and nodes: the kind of each node, its package, the domains
 * and their local memory. The step between the discovery (plan/topology_hwloc.c) and the plan; it
 * depends on neither.
 */
#include "plan/topology.h"

struct pm_found_node {
	struct pm_memory_node
		node;	     /* discovered: number, size, CPUs, attributes; the rest is set */
	const char *subtype; /* hwloc's: "NVM", "HBM", "MCDRAM", ...; NULL: none; not owned */
};

struct pm_found_core {
	int package; /* the kernel's number */
	unsigned n_cpus;
	int cpus[PM_CORE_CPUS_MAX];
};

struct pm_found {
	struct pm_found_core *cores; /* in hwloc's order */
	struct pm_found_node *nodes;
	unsigned n_cores, n_nodes;
};

/*
 * Sorts the nodes by number, and sets their kinds and evidence: hints, then hwloc's subtype, then
 * attributes, then order.
 *
 * A node's neighbour is the main memory with a lower number that shares CPUs with it. Attributes
 * are compared to the neighbour's: over 1.5 times its read bandwidth is HBM; below 3/4 of it, or
 * over 1.5 times its read latency, is slow memory. Slow memory is PMem if it writes at less than
 * 0.6 of its read bandwidth (Optane 13/39 GB/s, DRAM 80/104 GB/s: paper 000, §II), else CXL.
 *
 * Without attributes, a node of subtype "SPM", specific-purpose memory of the firmware
 * (EFI_MEMORY_SP), is CXL. Else a node without a neighbour is DRAM, and any other node is PMem.
 */
void pm_memory_classify(struct pm_found *found, const struct pm_memory_hint *hints, size_t n_hints);

/*
 * Builds packages, domains and their local memory. A core's main memory is the DRAM node, else HBM
 * node, with the fewest CPUs among those that have the core, else one of the core's package. Slow
 * memory is local to a domain if it is near all CPUs of the domain, and either lies in the domain's
 * package or is near no CPU but those of the domain's main memory; failing that, if it lies in the
 * package. A node that is near several packages otherwise is local to none, unless a hint assigns
 * it. -ENODEV: no cores; -ENOMEM.
 */
int pm_topology_arrange(struct pm_topology **ret, const struct pm_found *found,
	const struct pm_memory_hint *hints, size_t n_hints, struct pm_err *err);

#endif
