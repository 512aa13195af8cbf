/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin for qemu-system-x86_64: counts the traffic of a guest between the marks of
 * instructions.h, by guest-physical address. Arguments:
 *   out=FILE                a line of JSON for each region of interest
 *   node=N:START:BYTES      where a node's memory is, in hexadecimal; once a range
 *   sockets=N               of which each has as many of the guest's processors, the first socket
 * the first cache=BYTES:WAYS        the last-level cache of each socket near=BYTES Memory Mode:
 * DRAM of each node, which then caches it copies=START:END, clears=START:END   kernel functions, in
 * hexadecimal; once a function
 *
 * The processor's walks of page tables are not counted: QEMU makes them without instructions. Of an
 * access that crosses a page, the bytes in the second page count to the first.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin/meter/instructions.h"
#include "twin/meter/qemu_plugin.h"
#include "twin/meter/traffic.h"

#define KERNEL_BIT     47
#define FUNCTIONS_MAX  32
#define IS_NONTEMPORAL 0x100 /* beside the maker, in what an instruction's callback gets */

int qemu_plugin_version = 1;

struct function {
	enum pm_maker maker;
	uint64_t start, end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a guest's processors are threads */
static struct pm_traffic_settings settings = {
	.cache_bytes = 1 << 20, .cache_ways = 16, .sockets = 1};
static struct function functions[FUNCTIONS_MAX];
static unsigned n_functions, n_processors, regions, depth;
static FILE *out;

static enum pm_maker maker_of(uint64_t instruction)
{
	if (!(instruction >> KERNEL_BIT))
		return PM_USER;
	for (unsigned i = 0; i < n_functions; i++)
		if (instruction >= functions[i].start && instruction < functions[i].end)
			return functions[i].maker;
	return PM_KERNEL;
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	uintptr_t how = (uintptr_t)data;
	uint64_t bytes = (uint64_t)1 << qemu_plugin_mem_size_shift(info), physical;
	struct qemu_plugin_hwaddr *found;

	if (!depth)
		return;
	found = qemu_plugin_get_hwaddr(info, address);
	if (!found || qemu_plugin_hwaddr_is_io(found))
		return;
	physical = qemu_plugin_hwaddr_phys_addr(found);
	pthread_mutex_lock(&lock);
	pm_traffic_count(vcpu * settings.sockets / n_processors, how & 0xff, physical, bytes,
		qemu_plugin_mem_is_store(info), how & IS_NONTEMPORAL);
	pthread_mutex_unlock(&lock);
}

/* Regions of several processes overlap: one ends with the last of them. */
static void on_mark(unsigned vcpu, void *data)
{
	(void)vcpu;
	pthread_mutex_lock(&lock);
	if (data) {
		depth++;
	} else if (depth && !--depth) {
		pm_traffic_flush();
		pm_traffic_write(out, ++regions);
		fflush(out);
	}
	pthread_mutex_unlock(&lock);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);
		size_t bytes = qemu_plugin_insn_size(insn);
		enum pm_mark mark = pm_mark_of(code, bytes);
		uintptr_t how = maker_of(qemu_plugin_insn_vaddr(insn)) |
				(pm_is_nontemporal_store(code, bytes) ? IS_NONTEMPORAL : 0);

		if (mark == PM_MARK_BEGIN || mark == PM_MARK_END)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
				QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)(mark == PM_MARK_BEGIN));
		qemu_plugin_register_vcpu_mem_cb(
			insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, (void *)how);
	}
}

static bool add_function(enum pm_maker maker, const char *text)
{
	struct function *function = &functions[n_functions];

	if (n_functions == FUNCTIONS_MAX ||
		sscanf(text, "%" SCNx64 ":%" SCNx64, &function->start, &function->end) != 2)
		return false;
	function->maker = maker;
	n_functions++;
	return true;
}

static bool add_node(const char *text)
{
	struct pm_node_range *range = &settings.ranges[settings.n_ranges];

	if (settings.n_ranges == PM_NODES_MAX ||
		sscanf(text, "%u:%" SCNx64 ":%" SCNx64, &range->node, &range->start,
			&range->bytes) != 3 ||
		range->node >= PM_NODES_MAX)
		return false;
	settings.n_ranges++;
	return true;
}

static bool take_argument(const char *argument)
{
	if (!strncmp(argument, "out=", 4))
		return (out = fopen(argument + 4, "we")) != NULL;
	if (!strncmp(argument, "node=", 5))
		return add_node(argument + 5);
	if (!strncmp(argument, "copies=", 7))
		return add_function(PM_COPIES, argument + 7);
	if (!strncmp(argument, "clears=", 7))
		return add_function(PM_CLEARS, argument + 7);
	return sscanf(argument, "sockets=%u", &settings.sockets) == 1 ||
	       sscanf(argument, "near=%zu", &settings.near_bytes) == 1 ||
	       sscanf(argument, "cache=%zu:%u", &settings.cache_bytes, &settings.cache_ways) == 2;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!take_argument(argv[i])) {
			fprintf(stderr, "pmmeter: the plugin cannot take '%s'\n", argv[i]);
			return 1;
		}
	if (!info->system_emulation || !out) {
		fprintf(stderr, "pmmeter: this plugin is for qemu-system-x86_64, with out=FILE\n");
		return 1;
	}
	n_processors = info->system.smp_vcpus;
	if (!pm_traffic_init(&settings))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
