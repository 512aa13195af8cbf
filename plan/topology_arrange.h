/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOPOLOGY_ARRANGE_H
#define PM_TOPOLOGY_ARRANGE_H

/*
 * What was found, put in order: which memory is of what kind, whose it is, and which cores make a
 * domain. Between the discovery (plan/topology_hwloc.c) and the plan; knows neither.
 */
#include "plan/topology.h"

struct pm_found_node {
	struct pm_memory_node
		node;	     /* its number, size, processors and attributes; the rest is set */
	const char *subtype; /* as hwloc has it: "NVM", "HBM", "MCDRAM", ...; NULL: none */
};

struct pm_found_core {
	int package; /* the kernel's number */
	unsigned n_cpus;
	int cpus[PM_CORE_CPUS_MAX];
};

struct pm_found {
	struct pm_found_core *cores; /* in the machine's order */
	struct pm_found_node *nodes;
	unsigned n_cores, n_nodes;
};

/*
 * Sorts the nodes by number and sets their kinds and the evidence for them; a node of which nothing
 * tells is PM_MEMORY_DRAM when it is the first of its processors, else PM_MEMORY_PMEM. Attributes
 * of a node that is not the first: over 1.5 times its neighbour's bandwidth is HBM; below 3/4 of
 * it, or over 1.5 times the latency, is slow: PMem where it writes at less than 0.6 of what it
 * reads (Optane 13/39 GB/s, DRAM 80/104: paper 000, §II), else CXL. "SPM", memory that the firmware
 * reserved for a purpose, is HBM or CXL so; without attributes it is taken for CXL memory.
 */
void pm_memory_classify(struct pm_found *found, const struct pm_memory_hint *hints, size_t n_hints);

/*
 * Packages, domains and what is local. A core's main memory is the node with the fewest processors
 * that has it, else one of its package. Slow memory is local where it lies beside that main memory
 * or inside the package; what is near to several packages alike, without being beside their main
 * memory, is nobody's: a site that knows better says so (hints). -ENODEV: no cores. -ENOMEM.
 */
int pm_topology_arrange(struct pm_topology **ret, const struct pm_found *found,
	const struct pm_memory_hint *hints, size_t n_hints, struct pm_err *err);

#endif
