/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_H
#define PM_PLAN_H

/*
 * The plan: CPU binding, NUMA nodes, memory policy and DRAM budget of each rank of a node. It is a
 * pure function of the topology and the request: the same input has the same result in every rank,
 * so that each rank can compute the whole plan and apply its own line.
 *
 * CPU binding. Ranks are distributed over packages, and then over the domains of a package (SNC,
 * NPS), in proportion to their cores. "block" fills the first package first (paper 001, §5.1.2:
 * ranks below 24 on socket 0), "cyclic" takes turns, as --distribution of srun(1). All ranks of a
 * domain get the same number of cores, since a bulk-synchronous program is as slow as its slowest
 * rank: 22 ranks on 24 cores leave 2 cores, which go to helper threads or stay idle. Ranks span
 * packages only in two cases: there are fewer ranks than packages and no number of threads was
 * asked for, or the ranks cannot be divided so that each fits into one package. The same holds for
 * the domains of a package. No CPU is bound to two ranks.
 *
 * DRAM budgets. The DRAM of each node, less the site's reserve, is divided among the ranks bound
 * near it, in proportion to their cores there. The sum is within the memory limit of the job's
 * cgroup. Sizes are multiples of PM_PLAN_UNIT, rounded down.
 *
 * Spaces (paper 000, §IV-A: metadata, temporary, migration, free). Defaults: metadata 64 MiB, at
 * most 1/16 of the budget; migration 500 MiB, at most 1/4; temporary 1/4. A size that the site sets
 * for temporary gets 100 MiB spare on top, as in the paper. If the three exceed the budget, each is
 * scaled by budget / sum. Free is the rest.
 *
 * Memory policy, set_mempolicy(2). A rank allocates from its DRAM, then from its PMem: MPOL_BIND to
 * both. The kernel takes the nearest node of the mask that has free pages, and no node outside of
 * the mask; if all are full, its OOM killer ends the rank. Where the site allows memory of the
 * other socket, the policy is MPOL_PREFERRED_MANY (Linux 5.15): the same nodes in the same order,
 * then any other node. MPOL_PREFERRED would not do: after local DRAM the kernel goes by SLIT
 * distance, and remote DRAM may be nearer than local PMem (21 against 28 on one BIOS, 21 against 17
 * on another).
 *
 * Page tables under MPOL_BIND (mm/mempolicy.c, apply_policy_zone(); mm/page_alloc.c). The policy
 * holds for page tables, and these cannot be in PMem, which is ZONE_MOVABLE. They take 1/512 of the
 * mapped bytes. Once user pages have filled DRAM down to its low watermark, page tables come from
 * between the low and the min watermark. A site with much PMem behind little DRAM therefore raises
 * vm.watermark_scale_factor (in 1/10000 of DRAM) to 20 times the ratio of PMem to DRAM. pm-only is
 * not affected: the kernel does not apply a policy of movable nodes alone to page tables.
 */
#include "plan/topology.h"

#define PM_PLAN_UNIT	  (UINT64_C(2) << 20) /* all sizes are multiples of it: a huge page */
#define PM_PLAN_RANKS_MAX 16384		      /* on one node */

/* Upper bound of the leftover cores that a rank gets for helper threads. WarpX runs over 30 %
 * longer with more of them: paper 000. */
#define PM_PLAN_HELPERS_MAX 2

enum pm_bind { PM_BIND_SOCKET, PM_BIND_NONE, PM_BINDS };
enum pm_distribution { PM_DISTRIBUTION_BLOCK, PM_DISTRIBUTION_CYCLIC, PM_DISTRIBUTIONS };

/* Use of a core's hardware threads after its first. */
enum pm_smt {
	PM_SMT_NO,	/* nothing */
	PM_SMT_THREADS, /* the program's threads */
	PM_SMT_HELPERS, /* the runtime's helper threads */
	PM_SMTS,
};

/* --pm-policy; see "Memory policy" above for the policy of the kernel. */
enum pm_mem_policy {
	PM_MEM_POLICY_AUTO,	  /* dram-first when bound, none when not */
	PM_MEM_POLICY_DRAM_FIRST, /* local DRAM, then local PMem */
	PM_MEM_POLICY_PM_ONLY,	  /* local PMem */
	PM_MEM_POLICY_INTERLEAVE, /* page by page over local DRAM and PMem */
	PM_MEM_POLICY_WEIGHTED,	  /* the same by the kernel's weights: Linux 6.9 */
	PM_MEM_POLICY_NONE,	  /* the kernel's own policy */
	PM_MEM_POLICIES,
};

/*
 * Names as in the options: "socket", "cyclic", "helpers", "dram-first". Parsing returns 0, or
 * -EINVAL with *ret untouched.
 */
const char *pm_bind_name(enum pm_bind bind);
const char *pm_distribution_name(enum pm_distribution distribution);
const char *pm_mem_policy_name(enum pm_mem_policy policy);
int pm_bind_parse(const char *name, enum pm_bind *ret);
int pm_distribution_parse(const char *name, enum pm_distribution *ret);
int pm_smt_parse(const char *name, enum pm_smt *ret);
int pm_mem_policy_parse(const char *name, enum pm_mem_policy *ret);

/* The job's directory on a file system of PMem (App Direct, fsdax): PM_DIR0, PM_DIR1, ... */
struct pm_pmem_dir {
	int node;	  /* NUMA node of its region: numa_node of `ndctl list -Rv` */
	const char *path; /* owned by the caller */
};

struct pm_spaces {
	uint64_t metadata, temporary, migration, free; /* bytes */
};

/* All zero except `ranks`: the defaults. */
struct pm_plan_request {
	unsigned ranks; /* on this node */
	enum pm_bind bind;
	enum pm_distribution distribution;
	enum pm_smt smt;
	enum pm_mem_policy policy;
	unsigned threads;	     /* of a rank; 0: one for each of its CPUs */
	unsigned helpers;	     /* CPUs of a rank for helper threads; 0: what is left over */
	uint64_t dram_bytes;	     /* of a rank; 0: its share */
	uint64_t reserve_bytes;	     /* kept back by the site, of each package's DRAM */
	unsigned reserve_percent;    /* the same as a share, added to it; 0 to 90 */
	uint64_t memory_limit_bytes; /* of the job's cgroup on this node; 0: none */
	bool allow_remote;	 /* pages may come from the other socket if local nodes are full */
	struct pm_spaces spaces; /* sizes asked for; 0: the default; `free` is ignored */
	const struct pm_pmem_dir *pmem_dirs; /* not owned */
	unsigned n_pmem_dirs;
};

/* Numbers of CPUs and NUMA nodes are the kernel's. A rank's home is the domain with most of its
 * CPUs. */
struct pm_plan_rank {
	unsigned rank;
	cpu_set_t cpus;			  /* of the program's threads; empty: unbound */
	cpu_set_t helpers;		  /* of helper threads; empty: they share `cpus` */
	unsigned threads;		  /* for OMP_NUM_THREADS */
	int package;			  /* of its home; index into the topology */
	bool spans_packages;		  /* `cpus` and `helpers` are of several packages */
	int dram_node, pmem_node;	  /* of its home; -1: none */
	cpu_set_t dram_nodes, pmem_nodes; /* local to any of its domains */
	int pmem_dir;			  /* index into the request's directories; -1: none */
	uint64_t dram_bytes;		  /* the budget: the sum of its spaces */
	uint64_t pmem_bytes;		  /* share of local PMem; shown only, not enforced */
	struct pm_spaces spaces;
	bool temporary_is_asked; /* by the site: the runtime must not resize the spaces */
	int mode;		 /* of <linux/mempolicy.h>; MPOL_DEFAULT: the policy is not set */
	cpu_set_t nodes;	 /* the mask of that policy */
};

struct pm_plan {
	struct pm_plan_rank *ranks;
	unsigned n_ranks;
	enum pm_bind bind;
	enum pm_mem_policy policy; /* never AUTO */
	uint64_t reserve_bytes;	   /* the largest one of all packages */
	char **notes;		   /* sentences for people, as on idle cores; NULL-terminated */
};

/*
 * Makes a plan. With PM_BIND_NONE a rank has no CPUs and all nodes, the memory of each node is
 * divided among all ranks, and AUTO is NONE. Release with pm_plan_free(). On failure *ret is
 * untouched, and the message of a refusal ends with a cure.
 *
 * -EINVAL: no ranks, or less than PM_PLAN_UNIT of DRAM was asked for; -ERANGE: more ranks or
 * threads than CPUs; -ENOSPC: the DRAM that was asked for does not fit, or none is left for a rank;
 * -ENODEV: a package without DRAM, or pm-only without PMem; -ENOMEM.
 */
int pm_plan_make(struct pm_plan **ret, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err);

/* `plan` may be NULL. */
void pm_plan_free(struct pm_plan *plan);

/* For cleanup_with(). */
void pm_plan_cleanup(struct pm_plan **plan);

#endif
