/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/tools/node_memory.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define MIB (1024ULL * 1024)

static void node(int number, unsigned total_kib, unsigned free_kib, const char *cpus)
{
	char path[60], text[200];

	snprintf(path, sizeof(path), "sys/devices/system/node/node%d/meminfo", number);
	snprintf(text, sizeof(text),
		"Node %d MemTotal:       %8u kB\nNode %d MemFree:        %8u kB\n"
		"Node %d MemUsed:        %8u kB\n",
		number, total_kib, number, free_kib, number, total_kib - free_kib);
	scratch_file(path, text);
	snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist", number);
	scratch_file(path, cpus);
}

static void make_machine(void)
{
	node(0, 1024 * 1024, 512 * 1024, "0\n");
	node(1, 1024 * 1024, 1000 * 1024, "1\n");
	node(2, 4096 * 1024, 4000 * 1024, "\n");
	node(3, 4096 * 1024, 4096 * 1024, "\n");
	scratch_file("sys/devices/system/node/online", "0-3\n");
	scratch_file("sys/devices/system/cpu/cpu0/topology/physical_package_id", "4\n");
	scratch_file("sys/devices/system/cpu/cpu1/topology/physical_package_id", "7\n");
}

static void test_sums(void)
{
	const int nodes[] = {2, 3};
	struct pm_node_memory mine, others, one;
	struct pm_err err = {0};

	is_number(pm_node_memory_read(scratch_dir(), 2, &one, &err), 0, "node 2");
	is_number((long long)one.used_bytes, 96 * MIB, "used");
	is_number(pm_node_memory_read(scratch_dir(), 9, &one, &err), 0, "node 9 is not there");
	is_number((long long)one.total_bytes, 0, "and has nothing");
	is_number(pm_node_memory_split(scratch_dir(), nodes, 2, &mine, &others, &err), 0, "split");
	is_number((long long)mine.total_bytes, 8192 * MIB, "of both");
	is_number((long long)mine.used_bytes, 96 * MIB, "used on both");
	is_number((long long)others.free_bytes, 1512 * MIB, "free on the others");
}

static void test_fits(void)
{
	struct pm_node_memory others = {.total_bytes = 3200 * MIB, .free_bytes = 1100 * MIB};
	struct pm_node_memory mine = {.used_bytes = 999 * MIB};

	ok(pm_node_memory_fits(&mine, &others), "with the margin of a 32nd, 100 MiB");
	mine.used_bytes = 1000 * MIB;
	ok(!pm_node_memory_fits(&mine, &others), "a MiB more does not fit");
}

static void test_sockets(void)
{
	is_number(pm_node_socket(scratch_dir(), 0), 4, "package of node 0's processor");
	is_number(pm_node_socket(scratch_dir(), 1), 7, "of node 1's");
	is_number(pm_node_socket(scratch_dir(), 2), 2, "a node without processors");
	is_number(pm_node_socket(scratch_dir(), -1), 0, "no node");
}

static void test_bad_file(void)
{
	struct pm_node_memory one;
	struct pm_err err;

	scratch_file("sys/devices/system/node/node5/meminfo", "Node 5 MemTotal: 12 kB\n");
	is_number(pm_node_memory_read(scratch_dir(), 5, &one, &err), -EBADMSG, "no MemFree");
	scratch_file("sys/devices/system/node/node5/meminfo",
		"Node 5 MemTotal: 12 kB\nNode 5 MemFree: 13 kB\n");
	is_number(pm_node_memory_read(scratch_dir(), 5, &one, &err), -EBADMSG, "more than all");
}

int main(void)
{
	make_machine();
	test_sums();
	test_fits();
	test_sockets();
	test_bad_file();
	return tap_done();
}
