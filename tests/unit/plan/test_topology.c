/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "plan/topology_arrange.h"
#include "site/config.h"
#include "site/plan.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define FLAT "tests/fixtures/topology/synthetic-cascade-lake-flat.xml"

/* --- hints --- */

static const struct {
	const char *text;
	size_t n;
	struct pm_memory_hint last;
} good_hints[] = {
	{"none", 0, {0}},
	{"2:pmem:0", 1, {2, PM_MEMORY_PMEM, 0}},
	{"0:dram,3:cxl", 2, {3, PM_MEMORY_CXL, -1}},
	{"1023:other:7", 1, {1023, PM_MEMORY_OTHER, 7}},
};

static void test_good_hints(void)
{
	FOR_EACH(row, good_hints)
	{
		cleanup_free struct pm_memory_hint *hints = NULL;
		size_t n = 0;

		is_number(pm_memory_hints_parse(row->text, &hints, &n, NULL), 0, row->text);
		is_number((long long)n, (long long)row->n, "how many");
		if (n)
			ok(hints[n - 1].node == row->last.node &&
					hints[n - 1].kind == row->last.kind &&
					hints[n - 1].package == row->last.package,
				"the last is as written");
	}
}

static const char *const bad_hints[] = {"", ",", "2", "2:", ":pmem", "2:optane",
	"2:pmem:", "2::pmem", "2:pmem:0:", "2:pmem:x", "-1:pmem", "1024:pmem"};

static void test_bad_hints(void)
{
	FOR_EACH(text, bad_hints)
	{
		struct pm_memory_hint *hints = NULL;
		struct pm_err err = {0};
		size_t n = 7;
		int rc = pm_memory_hints_parse(*text, &hints, &n, &err);

		ok(rc == -EINVAL && n == 7 && !hints && *err.text, "hint '%s'", *text);
		free(hints);
	}
}

static void test_names(void)
{
	for (int kind = 0; kind < PM_MEMORY_KINDS; kind++) {
		enum pm_memory_kind parsed = PM_MEMORY_KINDS;

		ok(!pm_memory_kind_parse(pm_memory_kind_name((enum pm_memory_kind)kind), &parsed) &&
				(int)parsed == kind,
			"kind %s is read as it is written",
			pm_memory_kind_name((enum pm_memory_kind)kind));
	}
	is_text(pm_memory_evidence_name(PM_EVIDENCE_DISTANCE), "distance", "evidence has names");
}

/* --- kinds, where hwloc has no subtype --- */

static struct pm_memory_node classify(uint32_t read_mb_s, uint32_t write_mb_s, uint32_t ns)
{
	struct pm_found_node nodes[2] = {0};
	struct pm_found found = {.nodes = nodes, .n_nodes = 2};

	for (int i = 0; i < 2; i++) {
		nodes[i].node.node = i;
		nodes[i].node.bytes = 1;
		CPU_SET(0, &nodes[i].node.cpus);
	}
	nodes[0].node.read_mb_s = 100000;
	nodes[0].node.write_mb_s = 80000;
	nodes[0].node.read_latency_ns = 80;
	nodes[1].node.read_mb_s = read_mb_s;
	nodes[1].node.write_mb_s = write_mb_s;
	nodes[1].node.read_latency_ns = ns;
	pm_memory_classify(&found, NULL, 0);
	return nodes[1].node;
}

static const struct {
	uint32_t read_mb_s, write_mb_s, ns;
	enum pm_memory_kind kind;
	const char *what;
} figures[] = {
	{39000, 13000, 174, PM_MEMORY_PMEM, "Optane beside DDR4 (paper 000)"},
	{28000, 25000, 250, PM_MEMORY_CXL, "slow, and as fast to write as to read"},
	{400000, 300000, 120, PM_MEMORY_HBM, "four times the bandwidth"},
	{160000, 120000, 120, PM_MEMORY_HBM, "over 1.5 times the bandwidth"},
	{100000, 80000, 90, PM_MEMORY_DRAM, "as fast as its neighbour"},
	{90000, 80000, 200, PM_MEMORY_CXL, "as fast, but far"},
	{0, 0, 0, PM_MEMORY_PMEM, "no figures: it is not the first"},
};

static void test_figures(void)
{
	FOR_EACH(row, figures)
	{
		struct pm_memory_node node = classify(row->read_mb_s, row->write_mb_s, row->ns);

		is_text(pm_memory_kind_name(node.kind), pm_memory_kind_name(row->kind), row->what);
		is_text(pm_memory_evidence_name(node.evidence),
			row->read_mb_s ? "attributes" : "distance", "and why");
	}
}

/* --- the package of memory, on odd machines --- */

struct odd_node {
	const char *cpus, *subtype;
	uint64_t bytes;
};

/* A package of four cores with these nodes: main and slow memory of its first and last core. */
static void is_arranged(const struct odd_node *odd, unsigned n, int first_main, int last_main,
	int last_slow, const char *name)
{
	struct pm_found_core cores[4] = {0};
	struct pm_found_node nodes[4] = {0};
	struct pm_found found = {.cores = cores, .nodes = nodes, .n_cores = 4, .n_nodes = n};
	struct pm_topology *t = NULL;
	const struct pm_domain *last;

	for (int i = 0; i < 4; i++) {
		cores[i].n_cpus = 1;
		cores[i].cpus[0] = i;
	}
	for (unsigned i = 0; i < n; i++) {
		nodes[i].node.node = (int)i;
		nodes[i].node.bytes = odd[i].bytes;
		nodes[i].subtype = odd[i].subtype;
		pm_cpulist_parse(odd[i].cpus, &nodes[i].node.cpus);
	}
	pm_memory_classify(&found, NULL, 0);
	is_number(pm_topology_arrange(&t, &found, NULL, 0, NULL), 0, name);
	last = &t->domains[t->n_domains - 1];
	is_number(t->nodes[t->domains[0].dram].node, first_main, "main memory of the first core");
	is_number(last->dram < 0 ? -1 : t->nodes[last->dram].node, last_main, "of the last");
	is_number(last->pmem < 0 ? -1 : t->nodes[last->pmem].node, last_slow, "its slow memory");
	ok(last_slow < 0 || CPU_ISSET(last_slow, &last->local), "which is local");
	pm_topology_free(t);
}

static void test_odd_machines(void)
{
	static const struct odd_node nested[] = {{"0-3", "DRAM", 1}, {"2-3", "DRAM", 1}};
	static const struct odd_node one_sided[] = {
		{"0-1", NULL, 1}, {"2-3", NULL, 1}, {"0-1", "NVM", 1}};
	static const struct odd_node empty[] = {{"0-3", NULL, 0}, {"0-3", NULL, 1}};
	static const struct odd_node two_slow[] = {
		{"0-3", NULL, 1}, {"0-3", "CXL-DRAM", 1}, {"0-3", "NVM", 1}};
	static const struct odd_node half[] = {{"0-1", NULL, 1}};

	is_arranged(nested, 2, 0, 1, -1, "a node of half of the cores beside one of all");
	is_arranged(one_sided, 3, 0, 1, 2, "PMem near to one domain is the other's, too");
	is_arranged(empty, 2, 1, 1, -1, "an empty node is not main memory");
	is_arranged(two_slow, 3, 0, 0, 2, "PMem before CXL");
	is_arranged(half, 1, 0, 0, -1, "cores without memory have their package's");
}

/* --- files --- */

static struct pm_topology *load(const char *xml, struct pm_err *err)
{
	struct pm_topology *topology = NULL;
	struct pm_topology_source source = {.xml = xml};

	pm_topology_load(&topology, &source, err);
	return topology;
}

static void test_bad_files(void)
{
	static const struct {
		const char *text, *error;
		int code;
	} rows[] = {
		{NULL, "No such file", -ENOENT},
		{"", "topology", -EINVAL},
		{"not XML", "topology", -EINVAL},
		{"<topology version=\"2.0\"></topology>", "topology", -EINVAL},
		{"<?xml version=\"1.0\"?><html/>", "topology", -EINVAL},
	};

	FOR_EACH(row, rows)
	{
		const char *path = row->text ? scratch_file("machine.xml", row->text)
					     : scratch_path("none.xml");
		struct pm_err err = {0};
		struct pm_topology *topology = load(path, &err);

		ok(!topology, "no topology of '%s'", row->text ? row->text : "no file");
		has_text(err.text, row->error, "what is wrong");
		has_text(err.text, path, "with which file");
		is_number(err.code, row->code, "its code");
		pm_topology_free(topology);
	}
}

static bool is_same(const struct pm_topology *a, const struct pm_topology *b)
{
	return a->n_packages == b->n_packages && a->n_domains == b->n_domains &&
	       a->n_cores == b->n_cores && a->n_nodes == b->n_nodes &&
	       !memcmp(a->packages, b->packages, a->n_packages * sizeof(*a->packages)) &&
	       !memcmp(a->domains, b->domains, a->n_domains * sizeof(*a->domains)) &&
	       !memcmp(a->cores, b->cores, a->n_cores * sizeof(*a->cores)) &&
	       !memcmp(a->nodes, b->nodes, a->n_nodes * sizeof(*a->nodes));
}

static const char *const saved[] = {FLAT,
	"tests/fixtures/topology/synthetic-sapphire-rapids-snc4-hbm.xml",
	"tests/fixtures/topology/synthetic-cascade-lake-memory.xml",
	"tests/fixtures/topology/hwloc-fakememinitiators-1np2c-1npp-gi.xml"};

static void test_save(void)
{
	FOR_EACH(xml, saved)
	{
		const char *path = scratch_path("saved.xml");
		struct pm_topology *topology = load(*xml, NULL), *again;
		struct pm_err err = {0};
		struct stat status;

		is_number(pm_topology_save(topology, path, &err), 0, "it is written");
		ok(!stat(path, &status) && (status.st_mode & 07777) == 0600, "for its owner alone");
		again = load(path, &err);
		ok(again && is_same(topology, again), "%s is read as it was", *xml);
		pm_topology_free(topology);
		pm_topology_free(again);
	}
}

static void test_save_failures(void)
{
	struct pm_topology by_hand = {0}, *topology = load(FLAT, NULL);
	struct pm_err err = {0};

	is_number(pm_topology_save(&by_hand, scratch_path("x.xml"), &err), -EINVAL,
		"what was made by hand is not written");
	has_text(err.text, "made by hand", "its sentence");
	is_number(pm_topology_save(topology, "/nonexistent/x.xml", &err), -ENOENT,
		"nor is anything into no directory");
	pm_topology_free(topology);
}

/* --- this machine, and its file --- */

static cpu_set_t cpus_of(const struct pm_topology *t)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (unsigned i = 0; i < t->n_cores; i++)
		for (unsigned k = 0; k < t->cores[i].n_cpus; k++)
			CPU_SET(t->cores[i].cpus[k], &cpus);
	return cpus;
}

static void test_this_machine(void)
{
	const char *path = scratch_path("this.xml");
	struct pm_topology *topology = load(NULL, NULL), *again = NULL;
	struct pm_topology_source source = {.xml = path, .is_this_machine = true};
	cpu_set_t mine, found = cpus_of(topology);

	sched_getaffinity(0, sizeof(mine), &mine);
	ok(pm_cpus_contain(&found, &mine), "it has the processors that we run on");
	ok(topology->n_nodes > 0 && topology->domains[0].dram >= 0, "it has memory");
	is_number(pm_topology_save(topology, path, NULL), 0, "it is written");
	is_number(pm_topology_load(&again, &source, NULL), 0, "and read for this machine");
	ok(again && is_same(topology, again), "as it was");
	pm_topology_free(topology);
	pm_topology_free(again);
}

/* --- allowed resources --- */

static void test_restricted(void)
{
	struct pm_topology_source source = {.xml = FLAT};
	struct pm_topology *topology = NULL;
	struct pm_err err = {0};
	cpu_set_t cpus, nodes;

	pm_cpulist_parse("2,50,30", &cpus);
	pm_cpulist_parse("1-3", &nodes);
	source.cpus = &cpus;
	source.nodes = &nodes;
	is_number(pm_topology_load(&topology, &source, NULL), 0, "a part of it");
	is_number(topology->n_cores, 2, "a core a socket");
	is_number(topology->cores[0].n_cpus, 2, "one with both hardware threads");
	is_number(topology->cores[1].n_cpus, 1, "one with one");
	is_number(topology->n_nodes, 3, "without node 0");
	is_number(topology->domains[0].dram, -1, "which is socket 0's main memory");
	is_text(pm_memory_kind_name(topology->nodes[1].kind), "pmem",
		"what is left is not taken for it");
	pm_topology_free(topology);

	CPU_ZERO(&cpus);
	topology = NULL;
	is_number(pm_topology_load(&topology, &source, &err), -ENODEV, "none of it");
	has_text(err.text, "there is no usable processor: the cpuset", "its sentence");
	ok(!topology, "and no topology");
}

/* From a loaded topology, without reading the file again. */
static void test_narrowed(void)
{
	struct pm_topology_source source = {.xml = FLAT};
	struct pm_topology *all = NULL, *part = NULL;
	struct pm_err err = {0};
	unsigned n_cores;
	cpu_set_t cpus;

	pm_topology_load(&all, &source, NULL);
	n_cores = all->n_cores;
	pm_cpulist_parse("2,50,30", &cpus);
	source.xml = "/nonexistent";
	source.cpus = &cpus;
	is_number(pm_topology_restrict(&part, all, &source, NULL), 0, "a part of what is there");
	is_number(part->n_cores, 2, "a core a socket");
	is_number(part->n_packages, 2, "two sockets");
	is_number(part->n_nodes, all->n_nodes, "all of its memory");
	is_number(all->n_cores, n_cores, "the whole stays as it was");
	pm_topology_free(part);
	part = NULL;
	CPU_ZERO(&cpus);
	is_number(pm_topology_restrict(&part, all, &source, &err), -ENODEV, "nothing of it");
	ok(!part, "and no topology");
	pm_topology_free(all);
}

static void test_site(void)
{
	struct pm_topology_source source = {0};
	struct pm_plan_request request = {0};
	struct pm_memory_hint *hints = NULL;
	struct pm_config config;

	pm_config_load_for(
		scratch_file("pmem.conf",
			"DramReserve=7% MetadataSpace=1G TemporarySpace=2G MigrationSpace=3G\n"
			"RemoteMemory=yes MemoryNodes=2:pmem:1\n"),
		"n1", &config, NULL);
	pm_plan_heed_site(&request, &config);
	is_number(request.reserve_percent, 7, "DramReserve");
	is_number((long long)request.spaces.metadata >> 30, 1, "MetadataSpace");
	is_number((long long)request.spaces.temporary >> 30, 2, "TemporarySpace");
	is_number((long long)request.spaces.migration >> 30, 3, "MigrationSpace");
	ok(request.allow_remote, "RemoteMemory");
	is_number(pm_topology_heed_site(&source, &config, &hints, NULL), 0, "MemoryNodes");
	ok(source.n_hints == 1 && source.hints[0].node == 2 && source.hints[0].package == 1,
		"as it says");
	free(hints);
	pm_config_done(&config);
}

int main(void)
{
	test_good_hints();
	test_bad_hints();
	test_names();
	test_figures();
	test_odd_machines();
	test_bad_files();
	test_save();
	test_save_failures();
	test_this_machine();
	test_restricted();
	test_narrowed();
	test_site();
	return tap_done();
}
