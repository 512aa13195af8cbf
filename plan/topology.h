/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOPOLOGY_H
#define PM_TOPOLOGY_H

/*
 * The topology that a plan is made of: packages, their cores, and the memory that is local to them.
 * Plain data, from hwloc (2.9 or later), or written by hand in a test.
 *
 * CPUs and NUMA nodes have the kernel's numbers (hwloc's os_index). Sets of both are cpu_set_t, so
 * that numbers are below 1024. All other references are indices into the arrays of this struct.
 *
 * Only usable resources are in it: no core without a CPU that the cgroup's cpuset allows, no memory
 * node that cpuset.mems forbids, and no package without cores.
 */
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PM_CORE_CPUS_MAX 8 /* hardware threads (hwloc: PUs); POWER has 8, x86 at most 4 */

enum pm_memory_kind {
	PM_MEMORY_DRAM,
	PM_MEMORY_HBM,	 /* high-bandwidth memory in the package: MCDRAM, HBM2e */
	PM_MEMORY_PMEM,	 /* persistent memory in system-ram mode, daxctl(1) */
	PM_MEMORY_CXL,	 /* DRAM behind CXL */
	PM_MEMORY_OTHER, /* as of a GPU: no plan uses it */
	PM_MEMORY_KINDS,
};

/* Evidence for a node's kind, from the strongest to the weakest: the first one counts. */
enum pm_memory_evidence {
	PM_EVIDENCE_PROFILE,	/* MemoryNodes= in the site's pmem.conf */
	PM_EVIDENCE_SUBTYPE,	/* hwloc's subtype, as of the node's DAX device */
	PM_EVIDENCE_ATTRIBUTES, /* bandwidth and latency of ACPI's HMAT, compared to a neighbour */
	PM_EVIDENCE_DISTANCE,	/* nearest CPUs by SLIT have another node as main memory */
	PM_EVIDENCE_PROCESSORS, /* first node of its CPUs: main memory */
	PM_EVIDENCE_KINDS,
};

struct pm_memory_node {
	int node; /* the kernel's number */
	enum pm_memory_kind kind;
	enum pm_memory_evidence evidence;
	int package;	      /* index; -1: equally near to several */
	cpu_set_t cpus;	      /* CPUs that it is local to */
	uint64_t bytes;	      /* total size; never 0 */
	uint64_t cache_bytes; /* memory-side cache in front of it (Memory Mode); 0: none */
	/* From its own CPUs; 0: unknown. */
	uint32_t read_mb_s, write_mb_s;
	uint32_t read_latency_ns, write_latency_ns;
};

struct pm_core {
	unsigned package, domain;
	unsigned n_cpus;
	int cpus[PM_CORE_CPUS_MAX]; /* allowed hardware threads, in hwloc's order */
};

/*
 * A domain: the cores of a package with the same local main memory. It is the package, or a part of
 * it where sub-NUMA clustering (SNC, NPS) divides the package.
 */
struct pm_domain {
	unsigned package;
	unsigned first_core, n_cores;
	int dram;	 /* index of its main memory: DRAM, else HBM; -1: none in the package */
	int pmem;	 /* index of its best slow node, PMem before CXL; -1: none */
	cpu_set_t local; /* NUMA nodes that are local: of the domain, else of the package */
};

struct pm_package {
	int number; /* the kernel's physical_package_id */
	unsigned first_core, n_cores;
	unsigned first_domain, n_domains;
};

/*
 * Packages are sorted by number, domains by package, cores by domain: the domains of a package and
 * the cores of a domain are consecutive.
 */
struct pm_topology {
	struct pm_package *packages;
	struct pm_domain *domains;
	struct pm_core *cores;
	struct pm_memory_node *nodes; /* by number */
	unsigned n_packages, n_domains, n_cores, n_nodes;
	void *discovered; /* hwloc_topology_t, owned; NULL: written by hand */
};

/* The site's correction of a node that the machine describes wrongly or not at all. */
struct pm_memory_hint {
	int node;
	enum pm_memory_kind kind;
	int package; /* its number; -1: as discovered */
};

/* All zero: this machine, as far as this process's cgroup allows. */
struct pm_topology_source {
	const char *xml;       /* XML file of lstopo or pm_topology_save(); NULL: this machine */
	const char *synthetic; /* a machine in hwloc's words, instead of a file; NULL: none */
	/*
	 * The file describes this machine, as a cached one does: the cgroup's present limits apply,
	 * not those of the time when the file was written.
	 */
	bool is_this_machine;
	const cpu_set_t *cpus;	/* only these CPUs; NULL: all allowed ones */
	const cpu_set_t *nodes; /* only these memory nodes; NULL: all allowed ones */
	const struct pm_memory_hint *hints;
	size_t n_hints;
};

/*
 * Discovers the topology, in tens of milliseconds, or reads it from a file, in less than one: a
 * caller discovers once for a node and step, saves the file, and lets all ranks read that. Release
 * with pm_topology_free(). On failure *ret is untouched.
 *
 * -ENODEV: no CPU is left; -E2BIG: numbers of 1024 or more; -EINVAL: the file is not a topology;
 * -ENOMEM; other errors of opening the file.
 */
int pm_topology_load(
	struct pm_topology **ret, const struct pm_topology_source *source, struct pm_err *err);

/*
 * Derives the topology of a source with fewer CPUs or nodes from one that was loaded, without a new
 * discovery, in microseconds; hwloc_topology_restrict() is not called. Not for a topology that was
 * written by hand.
 */
int pm_topology_restrict(struct pm_topology **ret, const struct pm_topology *topology,
	const struct pm_topology_source *source, struct pm_err *err);

/*
 * Writes a loaded topology as hwloc's XML, mode 0600. The file appears atomically: readers see all
 * of it or none. -EINVAL: written by hand.
 */
int pm_topology_save(const struct pm_topology *topology, const char *path, struct pm_err *err);

/* The same text; malloc'ed. -EINVAL: written by hand; -ENOMEM. */
int pm_topology_xml(const struct pm_topology *topology, char **ret, struct pm_err *err);

/* `topology` may be NULL. */
void pm_topology_free(struct pm_topology *topology);

/* For cleanup_with(). */
void pm_topology_cleanup(struct pm_topology **topology);

/* The CPUs of a core, and of consecutive cores. */
cpu_set_t pm_core_cpus(const struct pm_core *core);
cpu_set_t pm_topology_cpus(const struct pm_topology *topology, unsigned first_core, unsigned n);

/* "dram", "hbm", "pmem", "cxl", "other". */
const char *pm_memory_kind_name(enum pm_memory_kind kind);

/* 0, or -EINVAL: unknown; *ret is untouched. */
int pm_memory_kind_parse(const char *name, enum pm_memory_kind *ret);

/* True for PMem and CXL memory, which a rank's pages go to when its DRAM is full. */
bool pm_memory_is_slow(enum pm_memory_kind kind);

/* "profile", "subtype", "attributes", "distance", "processors". */
const char *pm_memory_evidence_name(enum pm_memory_evidence evidence);

/*
 * Parses MemoryNodes= of pmem.conf: "none", or NODE:KIND[:SOCKET],... as "2:pmem:0,3:pmem:1". *ret
 * is malloc'ed. -EINVAL, with the part that is wrong; -ENOMEM.
 */
int pm_memory_hints_parse(
	const char *value, struct pm_memory_hint **ret, size_t *ret_n, struct pm_err *err);

#endif
