/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>

#include "base/cpulist.h"
#include "base/json.h"
#include "plan/show.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

/* Two sockets of two cores with two threads each, DRAM in nodes 0 and 1, PMem in 2 and 3. */
static struct pm_package packages[] = {{0, 0, 2, 0, 1}, {1, 2, 2, 1, 1}};
static struct pm_domain domains[] = {
	{.package = 0, .first_core = 0, .n_cores = 2, .dram = 0, .pmem = 2},
	{.package = 1, .first_core = 2, .n_cores = 2, .dram = 1, .pmem = 3}};
static struct pm_core cores[] = {
	{0, 0, 2, {0, 4}}, {0, 0, 2, {1, 5}}, {1, 1, 2, {2, 6}}, {1, 1, 2, {3, 7}}};
static struct pm_memory_node nodes[] = {
	{.node = 0, .kind = PM_MEMORY_DRAM, .evidence = PM_EVIDENCE_PROCESSORS, .bytes = 8 * GIB},
	{.node = 1,
		.kind = PM_MEMORY_DRAM,
		.evidence = PM_EVIDENCE_PROCESSORS,
		.package = 1,
		.bytes = 8 * GIB},
	{.node = 2, .kind = PM_MEMORY_PMEM, .evidence = PM_EVIDENCE_SUBTYPE, .bytes = 64 * GIB},
	{.node = 3,
		.kind = PM_MEMORY_PMEM,
		.evidence = PM_EVIDENCE_SUBTYPE,
		.package = 1,
		.bytes = 64 * GIB}};
static struct pm_topology topology = {packages, domains, cores, nodes, 2, 2, 4, 4, NULL};

static struct pm_pmem_dir pmem_dirs[] = {{0, "/mnt/pmem0/<job>"}, {1, "/mnt/pmem1/job"}};
static struct pm_plan_request request = {
	.ranks = 2, .reserve_bytes = GIB, .pmem_dirs = pmem_dirs, .n_pmem_dirs = 2};
static char *notes[] = {"core 3 is idle", NULL};
static struct pm_plan_rank ranks[2];
static struct pm_plan plan = {.ranks = ranks,
	.n_ranks = 2,
	.policy = PM_MEM_POLICY_DRAM_FIRST,
	.reserve_bytes = GIB,
	.notes = notes};
static const struct pm_plan_view view = {.plan = &plan, .topology = &topology, .request = &request};

static void set(cpu_set_t *set, const char *list)
{
	if (pm_cpulist_parse(list, set))
		exit(1);
}

static void fill(void)
{
	set(&nodes[0].cpus, "0-1,4-5");
	set(&nodes[1].cpus, "2-3,6-7");
	nodes[2].cpus = nodes[0].cpus;
	nodes[3].cpus = nodes[1].cpus;
	for (int i = 0; i < 2; i++) {
		ranks[i] = (struct pm_plan_rank){.rank = (unsigned)i,
			.threads = 2,
			.package = i,
			.dram_node = i,
			.pmem_node = i + 2,
			.pmem_dir = i,
			.dram_bytes = 7 * GIB,
			.pmem_bytes = 64 * GIB,
			.spaces = {64 * MIB, 2 * GIB, 500 * MIB, 5 * GIB - 564 * MIB},
			.mode = MPOL_BIND};
		set(&ranks[i].dram_nodes, i ? "1" : "0");
		set(&ranks[i].pmem_nodes, i ? "3" : "2");
		set(&ranks[i].nodes, i ? "1,3" : "0,2");
	}
	set(&ranks[0].cpus, "0-1");
	set(&ranks[1].cpus, "2");
	set(&ranks[0].helpers, "4-5");
}

static const char expected[] =
	"2 ranks on 2 sockets with 4 cores: bind socket, distribution block, policy dram-first, "
	"up to 1 GiB of a socket kept back\n"
	"\n"
	"NODE  KIND  SOCKET  OF CPUS    SIZE  KNOWN BY\n"
	"   0  dram       0  0-1,4-5   8 GiB  processors\n"
	"   1  dram       1  2-3,6-7   8 GiB  processors\n"
	"   2  pmem       0  0-1,4-5  64 GiB  subtype\n"
	"   3  pmem       1  2-3,6-7  64 GiB  subtype\n"
	"\n"
	"RANK  SOCKET  CPUS  THREADS  HELPERS  NODE   DRAM  METADATA  TEMPORARY  MIGRATION     "
	"FREE  "
	"NODE    PMEM  POLICY  NODES  DIRECTORY\n"
	"   0  0       0-1         2  4-5      0     7 GiB    64 MiB      2 GiB    500 MiB  4.4 "
	"GiB  "
	"2     64 GiB  bind    0,2    /mnt/pmem0/<job>\n"
	"   1  1       2           2           1     7 GiB    64 MiB      2 GiB    500 MiB  4.4 "
	"GiB  "
	"3     64 GiB  bind    1,3    /mnt/pmem1/job\n"
	"\n"
	"note: core 3 is idle\n";

static char *printed(int (*print)(const struct pm_plan_view *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream || print(&view, stream))
		exit(1);
	fclose(stream);
	return text;
}

static void test_table(void)
{
	char *text = printed(pm_plan_print_table);

	is_text(text, expected, "the table");
	free(text);
	plan.notes = NULL;
	ranks[1].spans_packages = true;
	ranks[1].pmem_dir = -1;
	text = printed(pm_plan_print_table);
	has_text(text, "\n   1  1+ ", "a rank that spans sockets is marked");
	has_text(text, "1,3\n", "no blanks at the end of a line");
	ok(!strstr(text, "note"), "no notes, no word of them");
	free(text);
	fill();
	plan.notes = notes;
}

static void test_unbound(void)
{
	char *text;

	for (int i = 0; i < 2; i++) {
		CPU_ZERO(&ranks[i].cpus);
		CPU_ZERO(&ranks[i].helpers);
		ranks[i].mode = MPOL_DEFAULT;
		CPU_ZERO(&ranks[i].nodes);
	}
	text = printed(pm_plan_print_table);
	has_text(text, "RANK  SOCKET  NODE", "columns without anything are left out");
	has_text(text, "\n   0  -  ", "a rank without a socket has none");
	has_text(text, "default", "and the kernel's own policy");
	free(text);
	free(printed(pm_plan_print_svg));
	fill();
}

static void test_json(void)
{
	char *text = pm_plan_json(&view);
	json_object *root = pm_json_parse(text, strlen(text)), *list, *rank, *space;

	ok(root, "JSON is JSON");
	json_object_object_get_ex(root, "ranks", &list);
	is_number((long long)json_object_array_length(list), 2, "all ranks");
	rank = json_object_array_get_idx(list, 1);
	is_text(pm_json_string(rank, "cpus"), "2", "its processors as a list");
	is_text(pm_json_string(rank, "policy_nodes"), "1,3", "its nodes");
	is_text(pm_json_string(rank, "directory"), "/mnt/pmem1/job", "its directory");
	ok(!pm_json_string(rank, "helper_cpus"), "what there is not has no member");
	json_object_object_get_ex(rank, "dram_bytes", &space);
	is_number(json_object_get_int64(space), 7 * GIB, "bytes are exact");
	json_object_object_get_ex(rank, "spaces", &space);
	json_object_object_get_ex(space, "migration_bytes", &space);
	is_number(json_object_get_int64(space), 500 * MIB, "so are the spaces");
	json_object_put(root);
	free(text);
}

static void test_svg(void)
{
	char *text = printed(pm_plan_print_svg);

	has_text(text, "viewBox=\"0 0 ", "a picture");
	has_text(text, "processor 4: helper threads of rank 0", "who has a hardware thread");
	has_text(text, "processor 3: idle", "and who has none");
	has_text(text, "rank 1, migration: 500 MiB", "a space");
	has_text(text, "socket 1</text>", "a socket");
	has_text(text, "persistent memory, node 3: 64 GiB</text>", "a tier");
	has_text(text, ">1 GiB kept back</text>", "the grey part is the site's reserve");
	ok(!strstr(text, "unused</text>"), "no other memory is grey");
	has_text(text, "prefers-color-scheme:dark", "a dark theme");
	has_text(text, "</svg>\n", "to its end");
	free(text);
	ranks[1].dram_bytes = 3 * GIB;
	text = printed(pm_plan_print_svg);
	has_text(text, ">1 GiB kept back, 4 GiB unused</text>", "what no rank has is told from it");
	free(text);
	fill();
}

int main(void)
{
	fill();
	test_table();
	test_json();
	test_svg();
	test_unbound();
	return tap_done();
}
