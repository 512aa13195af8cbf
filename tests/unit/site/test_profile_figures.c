/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>

#include "base/cleanup.h"
#include "site/profile_figures.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define FLAT "tests/fixtures/topology/synthetic-cascade-lake-flat-slit-alone.xml"

#define GB 1000000000ULL

/* Socket 1 alone; its remote memories are socket 0's. */
static const char PROFILE[] =
	"{\"format\": \"slurm-pmem site profile\", \"version\": 1, \"class\": \"c\", \"sockets\": ["
	"{\"socket\": 1, \"curves\": [], \"values\": ["
	"{\"name\": \"dram-read\", \"value\": 100000000000}, {\"name\": \"dram-write\", \"value\": "
	"60000000000},"
	"{\"name\": \"dram-random\", \"value\": 81900}, {\"name\": \"remote-pmem-random\", "
	"\"value\": 391000}],"
	"\"loops\": ["
	"{\"loop\": \"read\", \"place\": \"pmem\", \"points\": [{\"threads\": 1, \"bytes_per_s\": "
	"4000000000},"
	"{\"threads\": 8, \"bytes_per_s\": 30000000000}, {\"threads\": 24, \"bytes_per_s\": "
	"27000000000}]},"
	"{\"loop\": \"write\", \"place\": \"remote-dram\", \"points\": [{\"bytes_per_s\": "
	"20000000000}]}]}]}";

static struct pm_topology *load(const char *path)
{
	const struct pm_topology_source source = {.xml = path};
	struct pm_topology *topology = NULL;
	struct pm_err err;

	is_number(pm_topology_load(&topology, &source, &err), 0, "a topology");
	return topology;
}

static const struct pm_memory_figures *find(
	const struct pm_memory_figures *figures, size_t n, unsigned node)
{
	for (size_t i = 0; i < n; i++)
		if (figures[i].node == node)
			return &figures[i];
	return NULL;
}

static void test_figures(const struct pm_topology *topology, const struct pm_site_profile *profile)
{
	const struct pm_domain *own = &topology->domains[topology->packages[1].first_domain];
	const struct pm_domain *next = &topology->domains[topology->packages[0].first_domain];
	cleanup_free struct pm_memory_figures *figures = NULL;
	const struct pm_memory_figures *one;
	struct pm_err err;
	size_t n;

	is_number(pm_profile_figures(profile, topology, &figures, &n, &err), 0, "figures");
	is_number((long long)n, 4, "of the four memories of one socket");
	one = find(figures, n, (unsigned)own->dram);
	ok(one && one->package == 1 && one->read_bytes_per_s == 100 * GB &&
			one->write_bytes_per_s == 60 * GB && one->read_latency_ps == 81900,
		"its DRAM");
	one = find(figures, n, (unsigned)own->pmem);
	ok(one && one->read_bytes_per_s == 30 * GB && !one->write_bytes_per_s,
		"its PMem: the largest point of a loop");
	one = find(figures, n, (unsigned)next->dram);
	ok(one && one->write_bytes_per_s == 20 * GB && !one->read_bytes_per_s,
		"the next socket's DRAM");
	one = find(figures, n, (unsigned)next->pmem);
	ok(one && one->read_latency_ps == 391000, "the next socket's PMem");
	is_number(pm_topology_set_figures(topology, figures, n, &err), 0, "are put in");
}

/* What hwloc reads again; it has MiB/s, pm_memory_node has MB/s. */
static void test_xml(const struct pm_topology *topology)
{
	cleanup_free char *text = NULL;
	struct pm_topology *again;
	const struct pm_memory_node *node;
	struct pm_err err;

	is_number(pm_topology_xml(topology, &text, &err), 0, "the XML");
	again = load(scratch_file("figures.xml", text));
	node = &again->nodes[again->domains[again->packages[1].first_domain].dram];
	is_number(node->read_mb_s, (long long)(100 * GB >> 20), "has the bandwidth of reads");
	is_number(node->write_mb_s, (long long)(60 * GB >> 20), "and of writes");
	is_number(node->read_latency_ns, 81, "and the latency in ns");
	node = &again->nodes[again->domains[again->packages[0].first_domain].dram];
	is_number(node->read_mb_s, 0, "and nothing that was not measured");
	pm_topology_free(again);
}

int main(void)
{
	struct pm_topology *topology = load(FLAT), by_hand = {0};
	struct pm_site_profile profile;
	char *text;
	struct pm_err err;

	is_number(pm_site_profile_load(scratch_file("p.json", PROFILE), &profile, &err), 0,
		"a profile");
	test_figures(topology, &profile);
	test_xml(topology);
	is_number(pm_topology_xml(&by_hand, &text, &err), -EINVAL, "one that was made by hand");
	pm_site_profile_done(&profile);
	pm_topology_free(topology);
	return tap_done();
}
