/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOPOLOGY_H
#define PM_TOPOLOGY_H

/*
 * The machine as a plan sees it: sockets, their cores, and which memory is local to which core.
 * Plain data: what hwloc (2.9 or later) found, or what a test wrote down by hand.
 *
 * Processors and NUMA nodes have the numbers that the kernel gives them. Sets of either are
 * cpu_set_t: numbers below 1024. Everything else is an index into the arrays of this struct.
 *
 * Only what may be used is in it: cores without a processor that the cgroup's cpuset allows are
 * left out, as are memory nodes that it forbids, and packages of which nothing is left.
 */
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PM_CORE_CPUS_MAX 8 /* hardware threads of a core; POWER has 8, x86 at most 4 */

enum pm_memory_kind {
	PM_MEMORY_DRAM,
	PM_MEMORY_HBM,	 /* of the package: MCDRAM, HBM2e */
	PM_MEMORY_PMEM,	 /* system-ram made of persistent memory */
	PM_MEMORY_CXL,	 /* DRAM behind CXL */
	PM_MEMORY_OTHER, /* a GPU's and the like: no plan uses it */
	PM_MEMORY_KINDS,
};

/* How it is known of what kind a node is. The first that tells wins. */
enum pm_memory_evidence {
	PM_EVIDENCE_PROFILE,	/* the site says so: MemoryNodes= in pmem.conf */
	PM_EVIDENCE_SUBTYPE,	/* hwloc's subtype, as of the DAX device that it was made of */
	PM_EVIDENCE_ATTRIBUTES, /* bandwidth and latency of ACPI's HMAT, against its neighbour's */
	PM_EVIDENCE_DISTANCE,	/* by distance it is near processors that have other memory first */
	PM_EVIDENCE_PROCESSORS, /* the first memory of its processors: main memory */
	PM_EVIDENCE_KINDS,
};

struct pm_memory_node {
	int node; /* the kernel's number */
	enum pm_memory_kind kind;
	enum pm_memory_evidence evidence;
	int package;	      /* index; -1: near to several alike */
	cpu_set_t cpus;	      /* that it is near to */
	uint64_t bytes;	      /* its size, used or not; never 0 */
	uint64_t cache_bytes; /* of the memory-side cache in front of it: Memory Mode; 0: none */
	/* As seen from its own package, 0 where the machine does not tell. */
	uint32_t read_mb_s, write_mb_s;
	uint32_t read_latency_ns, write_latency_ns;
};

struct pm_core {
	unsigned package, domain;
	unsigned n_cpus;
	int cpus[PM_CORE_CPUS_MAX]; /* its allowed hardware threads, in the machine's order */
};

/*
 * The cores of a package that have the same local main memory: the whole package, or one of its
 * parts where sub-NUMA clustering (SNC, NPS) divides it.
 */
struct pm_domain {
	unsigned package;
	unsigned first_core, n_cores;
	int dram;	 /* index of its main memory: DRAM, else HBM; of its package; -1: none */
	int pmem;	 /* index of its nearest slow memory, PMem before CXL; -1: none */
	cpu_set_t local; /* numbers of all memory that is local: of its place or its package */
};

struct pm_package {
	int number; /* as the kernel calls it: physical_package_id */
	unsigned first_core, n_cores;
	unsigned first_domain, n_domains;
};

/* Packages by number; domains and cores in their order, so that each has consecutive ones. */
struct pm_topology {
	struct pm_package *packages;
	struct pm_domain *domains;
	struct pm_core *cores;
	struct pm_memory_node *nodes; /* by number */
	unsigned n_packages, n_domains, n_cores, n_nodes;
	void *discovered; /* hwloc's, for pm_topology_save(); NULL where made by hand */
};

/* What the site says of a node, where the machine tells it wrong or not at all. */
struct pm_memory_hint {
	int node;
	enum pm_memory_kind kind;
	int package; /* its number; -1: as found */
};

/* All-zero: this machine, and what this process's cgroup allows. */
struct pm_topology_source {
	const char *xml; /* a file that lstopo or pm_topology_save() wrote; NULL: this machine */
	/*
	 * The file is of this very machine, as a cached one is: what the cgroup allows now holds,
	 * not what it allowed when the file was written.
	 */
	bool is_this_machine;
	const cpu_set_t *cpus;	/* only these processors; NULL: all that are allowed */
	const cpu_set_t *nodes; /* only these memory nodes; NULL: all that are allowed */
	const struct pm_memory_hint *hints;
	size_t n_hints;
};

/*
 * Discovers, or reads. Tens of milliseconds for a machine, less than one for its file: do it once a
 * node and step, save it, and read that. -ENODEV: no processors are left; -E2BIG: numbers of 1024
 * or more; -EINVAL: the file is no topology; -ENOENT and others: it cannot be opened.
 * Release with pm_topology_free(). On failure *ret is untouched.
 */
int pm_topology_load(
	struct pm_topology **ret, const struct pm_topology_source *source, struct pm_err *err);

/*
 * The same machine as of another source, which may have fewer processors or nodes: what was
 * discovered is read again, nothing is asked anew, in microseconds. Not for one made by hand.
 */
int pm_topology_restrict(struct pm_topology **ret, const struct pm_topology *topology,
	const struct pm_topology_source *source, struct pm_err *err);

/*
 * Writes what was loaded as hwloc's XML (mode 0600), as a whole or not at all, so that others may
 * look for it while it is being written. -EINVAL: made by hand.
 */
int pm_topology_save(const struct pm_topology *topology, const char *path, struct pm_err *err);

/* NULL is fine. */
void pm_topology_free(struct pm_topology *topology);

/* For cleanup_with(). */
void pm_topology_cleanup(struct pm_topology **topology);

/* "dram", "hbm", "pmem", "cxl", "other". */
const char *pm_memory_kind_name(enum pm_memory_kind kind);

/* -EINVAL: no such kind. */
int pm_memory_kind_parse(const char *name, enum pm_memory_kind *ret);

/* PMem or CXL memory: what a rank's pages go to when its DRAM is full. */
bool pm_memory_is_slow(enum pm_memory_kind kind);

/* "profile", "subtype", "attributes", "distance", "processors". */
const char *pm_memory_evidence_name(enum pm_memory_evidence evidence);

/*
 * MemoryNodes= of pmem.conf: "none" or NODE:KIND[:SOCKET],... as "2:pmem:0,3:pmem:1". The list is
 * malloc'ed. -EINVAL, with what is wrong.
 */
int pm_memory_hints_parse(
	const char *value, struct pm_memory_hint **ret, size_t *ret_n, struct pm_err *err);

#endif
