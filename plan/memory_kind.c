/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/strv.h"
#include "base/units.h"
#include "plan/topology_arrange.h"

#define ANY_PACKAGE (-1)

static const char *const kind_names[PM_MEMORY_KINDS] = {
	[PM_MEMORY_DRAM] = "dram",
	[PM_MEMORY_HBM] = "hbm",
	[PM_MEMORY_PMEM] = "pmem",
	[PM_MEMORY_CXL] = "cxl",
	[PM_MEMORY_OTHER] = "other",
};

static const char *const evidence_names[PM_EVIDENCE_KINDS] = {
	[PM_EVIDENCE_PROFILE] = "profile",
	[PM_EVIDENCE_SUBTYPE] = "subtype",
	[PM_EVIDENCE_ATTRIBUTES] = "attributes",
	[PM_EVIDENCE_DISTANCE] = "distance",
	[PM_EVIDENCE_PROCESSORS] = "processors",
};

/* Subtypes of hwloc 2.9 to 2.12. A DAX device below an NVDIMM bus is "NVM". */
static const struct {
	const char *subtype;
	enum pm_memory_kind kind;
} subtypes[] = {
	{"DRAM", PM_MEMORY_DRAM},
	{"HBM", PM_MEMORY_HBM},
	{"MCDRAM", PM_MEMORY_HBM},
	{"NVM", PM_MEMORY_PMEM},
	{"CXL-NVM", PM_MEMORY_PMEM},
	{"CXL-DRAM", PM_MEMORY_CXL},
	{"CXL", PM_MEMORY_CXL},
	{"GPUMemory", PM_MEMORY_OTHER},
};

const char *pm_memory_kind_name(enum pm_memory_kind kind)
{
	return kind_names[kind];
}

const char *pm_memory_evidence_name(enum pm_memory_evidence evidence)
{
	return evidence_names[evidence];
}

int pm_memory_kind_parse(const char *name, enum pm_memory_kind *ret)
{
	return pm_names_find(kind_names, PM_MEMORY_KINDS, name, ret);
}

bool pm_memory_is_slow(enum pm_memory_kind kind)
{
	return kind == PM_MEMORY_PMEM || kind == PM_MEMORY_CXL;
}

static int parse_number(const char *text, int *ret)
{
	uint64_t number;

	if (pm_parse_u64(text, &number) || number >= CPU_SETSIZE)
		return -EINVAL;
	*ret = (int)number;
	return 0;
}

static int parse_hint(const char *text, struct pm_memory_hint *ret)
{
	cleanup_with(pm_strv_cleanup) char **parts = pm_strv_split(text, ":");
	size_t n = pm_strv_length(parts), n_colons = 0;

	if (!parts)
		return -ENOMEM;
	for (const char *at = text; *at; at++)
		n_colons += *at == ':';
	ret->package = ANY_PACKAGE;
	if (n < 2 || n > 3 || n != n_colons + 1 || parse_number(parts[0], &ret->node) ||
		pm_memory_kind_parse(parts[1], &ret->kind))
		return -EINVAL;
	return n == 3 ? parse_number(parts[2], &ret->package) : 0;
}

int pm_memory_hints_parse(
	const char *value, struct pm_memory_hint **ret, size_t *ret_n, struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **parts = pm_strv_split(value, ",");
	size_t n = strcmp(value, "none") ? pm_strv_length(parts) : 0;
	cleanup_free struct pm_memory_hint *list = calloc(n + 1, sizeof(*list));

	if (!parts || !list)
		return pm_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		int rc = parse_hint(parts[i], &list[i]);

		if (rc)
			return pm_err_set(err, rc,
				"'%s' is not NODE:KIND or NODE:KIND:SOCKET with a kind of dram, "
				"hbm, pmem, cxl or other",
				parts[i]);
	}
	if (!n && strcmp(value, "none"))
		return pm_err_set(err, -EINVAL, "'none' or a list of NODE:KIND:SOCKET expected");
	*ret = pm_steal(list);
	*ret_n = n;
	return 0;
}

static const struct pm_memory_hint *find_hint(
	const struct pm_memory_hint *hints, size_t n, int node)
{
	for (size_t i = 0; i < n; i++) {
		if (hints[i].node == node)
			return &hints[i];
	}
	return NULL;
}

static bool classify_by_subtype(struct pm_found_node *found)
{
	for (size_t i = 0; found->subtype && i < sizeof(subtypes) / sizeof(*subtypes); i++) {
		if (!strcmp(found->subtype, subtypes[i].subtype)) {
			found->node.kind = subtypes[i].kind;
			found->node.evidence = PM_EVIDENCE_SUBTYPE;
			return true;
		}
	}
	return false;
}

/* The neighbour: main memory of the same CPUs that comes before this node; NULL: none. */
static const struct pm_memory_node *neighbour(
	const struct pm_found *all, const struct pm_found_node *found)
{
	for (unsigned i = 0; &all->nodes[i] != found; i++) {
		const struct pm_memory_node *other = &all->nodes[i].node;

		if (other->bytes && other->kind <= PM_MEMORY_HBM &&
			pm_cpus_intersect(&other->cpus, &found->node.cpus))
			return other;
	}
	return NULL;
}

static bool is_slower(const struct pm_memory_node *a, const struct pm_memory_node *b)
{
	return a->read_mb_s < b->read_mb_s / 4 * 3 ||
	       (b->read_latency_ns && a->read_latency_ns > b->read_latency_ns / 2 * 3);
}

static bool classify_by_attributes(struct pm_memory_node *node, const struct pm_memory_node *other)
{
	if (!node->read_mb_s || !other->read_mb_s)
		return false;
	if (node->read_mb_s > other->read_mb_s / 2 * 3)
		node->kind = PM_MEMORY_HBM;
	else if (is_slower(node, other))
		node->kind = node->write_mb_s < node->read_mb_s / 10 * 6 ? PM_MEMORY_PMEM
									 : PM_MEMORY_CXL;
	else
		node->kind = PM_MEMORY_DRAM;
	node->evidence = PM_EVIDENCE_ATTRIBUTES;
	return true;
}

static void classify(struct pm_found *all, struct pm_found_node *found)
{
	const struct pm_memory_node *other = neighbour(all, found);
	bool is_reserved = found->subtype && !strcmp(found->subtype, "SPM");

	if (classify_by_subtype(found) || (other && classify_by_attributes(&found->node, other)))
		return;
	if (is_reserved) {
		found->node.kind = PM_MEMORY_CXL;
		found->node.evidence = PM_EVIDENCE_SUBTYPE;
	} else {
		found->node.kind = other ? PM_MEMORY_PMEM : PM_MEMORY_DRAM;
		found->node.evidence = other ? PM_EVIDENCE_DISTANCE : PM_EVIDENCE_PROCESSORS;
	}
}

static int compare(const void *a_, const void *b_)
{
	const struct pm_found_node *a = a_, *b = b_;

	return (a->node.node > b->node.node) - (a->node.node < b->node.node);
}

void pm_memory_classify(struct pm_found *found, const struct pm_memory_hint *hints, size_t n_hints)
{
	qsort(found->nodes, found->n_nodes, sizeof(*found->nodes), compare);
	for (unsigned i = 0; i < found->n_nodes; i++) {
		struct pm_memory_node *node = &found->nodes[i].node;
		const struct pm_memory_hint *hint = find_hint(hints, n_hints, node->node);

		classify(found, &found->nodes[i]);
		if (hint) {
			node->kind = hint->kind;
			node->evidence = PM_EVIDENCE_PROFILE;
		}
	}
}
