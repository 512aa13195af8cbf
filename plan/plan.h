/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_H
#define PM_PLAN_H

/*
 * The plan: for each of a node's ranks its processors, its memory and how much DRAM it may use. A
 * pure function of the topology and the request: it asks nobody, and the same question has the same
 * answer in every rank, so that each rank computes the whole plan and takes its own line.
 *
 * Who sits where. The ranks are divided over the sockets, and over the domains of a socket (SNC,
 * NPS), in proportion to their cores. "block" puts the first ranks on the first socket (paper 001,
 * §5.1.2: ranks below 24 on socket 0), "cyclic" deals them out one by one. All ranks of a domain
 * get the same number of cores: what the division leaves over is for helper threads, else idle (22
 * ranks on 24 cores: 2 idle), for a bulk-synchronous program is as slow as its slowest rank. A rank
 * spans domains, then sockets, only when it must: fewer ranks than sockets and no number of threads
 * asked, or more threads than a socket has room for. No processor is given twice.
 *
 * DRAM. A socket's, less what the site keeps back, is divided over the ranks bound to it by their
 * cores there; with several DRAM nodes a socket each node's is divided over its own ranks. The sum
 * stays within the memory limit of the job's cgroup. All sizes are multiples of 2 MiB, rounded
 * down.
 *
 * Spaces (paper 000, §IV-A: metadata, temporary, migration, free). Defaults: metadata 64 MiB, but
 * at most a sixteenth of the budget; migration 500 MiB, but at most a quarter; temporary a quarter.
 * A size asked for temporary gets 100 MiB spare on top, as in the paper. Where what was asked does
 * not fit, each of the three is cut by the same factor, budget / sum. Free is the rest.
 *
 * Memory policy. A rank's pages come from its DRAM, then from its PMem, by MPOL_BIND to both:
 * the kernel takes the nearest of the bound nodes that has free pages, and no other node's, also
 * when all of them are full (then its OOM killer ends the rank). Where the site allows the other
 * socket's memory it is MPOL_PREFERRED_MANY (Linux 5.15), which takes the same nodes in the same
 * order and goes elsewhere when they are full. MPOL_PREFERRED alone would go from local DRAM
 * to whatever is nearest by distance, the other socket's DRAM included (21 is less than 28, but 17
 * less than 21 on one BIOS and not on the next).
 *
 * What to know about MPOL_BIND (mm/mempolicy.c, apply_policy_zone(); mm/page_alloc.c): a rank's
 * page tables obey it too, and cannot be in PMem, which is ZONE_MOVABLE. They are 1/512 of what it
 * maps and are taken from between the low and the min watermark of its DRAM once user pages have
 * filled that; a site with much PMem behind little DRAM raises vm.watermark_scale_factor (in
 * 1/10000 of DRAM) to 20 times the ratio of PMem to DRAM. pm-only does not have that: a policy of
 * movable nodes alone is not applied to page tables.
 */
#include "plan/topology.h"

#define PM_PLAN_UNIT	  (UINT64_C(2) << 20) /* of all sizes in a plan */
#define PM_PLAN_RANKS_MAX 16384		      /* on one node */
#define PM_PLAN_HELPERS_MAX                                                                        \
	2 /* of left-over cores a rank: more cost WarpX over 30 % (paper 000)                      \
	   */

enum pm_bind { PM_BIND_SOCKET, PM_BIND_NONE, PM_BINDS };
enum pm_distribution { PM_DISTRIBUTION_BLOCK, PM_DISTRIBUTION_CYCLIC, PM_DISTRIBUTIONS };

/* What the second hardware thread of a core, and further ones, are used for. */
enum pm_smt {
	PM_SMT_NO,	/* nothing */
	PM_SMT_THREADS, /* the program's threads */
	PM_SMT_HELPERS, /* the runtime's helper threads */
	PM_SMTS,
};

enum pm_mem_policy {
	PM_MEM_POLICY_AUTO,	  /* dram-first when bound, none when not */
	PM_MEM_POLICY_DRAM_FIRST, /* local DRAM, then local PMem */
	PM_MEM_POLICY_PM_ONLY,	  /* local PMem */
	PM_MEM_POLICY_INTERLEAVE, /* page by page over local DRAM and PMem */
	PM_MEM_POLICY_WEIGHTED,	  /* the same by the kernel's weights: Linux 6.9 */
	PM_MEM_POLICY_NONE,	  /* the kernel's own policy */
	PM_MEM_POLICIES,
};

/* Names as options have them: "socket", "cyclic", "helpers", "dram-first"; parsing: -EINVAL. */
const char *pm_bind_name(enum pm_bind bind);
const char *pm_distribution_name(enum pm_distribution distribution);
const char *pm_smt_name(enum pm_smt smt);
const char *pm_mem_policy_name(enum pm_mem_policy policy);
int pm_bind_parse(const char *name, enum pm_bind *ret);
int pm_distribution_parse(const char *name, enum pm_distribution *ret);
int pm_smt_parse(const char *name, enum pm_smt *ret);
int pm_mem_policy_parse(const char *name, enum pm_mem_policy *ret);

/* A directory on App Direct's file system: PM_DIR0, PM_DIR1, ... */
struct pm_pmem_dir {
	int node; /* the NUMA node of its region, as `ndctl list -Rv` has it in numa_node */
	const char *path;
};

struct pm_spaces {
	uint64_t metadata, temporary, migration, free;
};

/* All-zero but for `ranks`: the defaults. */
struct pm_plan_request {
	unsigned ranks; /* on this node */
	enum pm_bind bind;
	enum pm_distribution distribution;
	enum pm_smt smt;
	enum pm_mem_policy policy;
	unsigned threads;	     /* of a rank; 0: as many as its cores, or processors, allow */
	unsigned helpers;	     /* processors of a rank for helper threads; 0: what is left */
	uint64_t dram_bytes;	     /* of a rank; 0: its share */
	uint64_t reserve_bytes;	     /* of a socket's DRAM, that the site keeps back */
	unsigned reserve_percent;    /* the same as a share of it, on top; 0 to 90 */
	uint64_t memory_limit_bytes; /* of the job's cgroup on this node; 0: none */
	bool allow_remote;	 /* the site allows the other socket's memory when ours is full */
	struct pm_spaces spaces; /* asked; 0: the default; `free` is not looked at */
	const struct pm_pmem_dir *pmem_dirs;
	unsigned n_pmem_dirs;
};

struct pm_plan_rank {
	unsigned rank;
	cpu_set_t cpus;	     /* what the program is bound to; empty: nothing */
	cpu_set_t helpers;   /* for helper threads; may be empty: then they share `cpus` */
	unsigned threads;    /* what OMP_NUM_THREADS should be */
	int package;	     /* index into the topology, where most of its cores are */
	bool spans_packages; /* its processors, or its helpers', are of several */
	int dram_node,
		pmem_node; /* the kernel's numbers, of where most of its cores are; -1: none */
	cpu_set_t dram_nodes, pmem_nodes; /* all that are local: more than one where it spans */
	int pmem_dir;			  /* index into the request's places; -1: none */
	uint64_t dram_bytes;		  /* its budget: the sum of its spaces */
	uint64_t pmem_bytes;		  /* its share of local PMem, for people and pictures */
	struct pm_spaces spaces;
	bool temporary_is_asked; /* by the site: a runtime is to leave the spaces as they are */
	int mode;	 /* MPOL_BIND, ... of <linux/mempolicy.h>; MPOL_DEFAULT: leave it alone */
	cpu_set_t nodes; /* of that policy */
};

struct pm_plan {
	struct pm_plan_rank *ranks;
	unsigned n_ranks;
	enum pm_bind bind;
	enum pm_mem_policy policy; /* AUTO resolved */
	uint64_t reserve_bytes;	   /* of the socket that keeps back most */
	char **notes; /* sentences for people: idle cores, memory that nobody uses; NULL at the end
		       */
};

/*
 * -EINVAL: no ranks; -ERANGE: more ranks or threads than processors; -ENOSPC: the DRAM that was
 * asked for does not fit, with the sum; -ENODEV: a socket without DRAM, pm-only without PMem. Each
 * with a sentence that ends with what to ask for instead. Release with pm_plan_free(). On failure
 * *ret is untouched. With PM_BIND_NONE a rank has no processors and all nodes, each node's memory
 * is divided over all ranks, and AUTO is NONE.
 */
int pm_plan_make(struct pm_plan **ret, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err);

/* NULL is fine. */
void pm_plan_free(struct pm_plan *plan);

/* For cleanup_with(). */
void pm_plan_cleanup(struct pm_plan **plan);

#endif
