/* SPDX-License-Identifier: Apache-2.0 */
#include "twin/meter/traffic.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "twin/meter/near_memory.h"

struct sum {
	uint64_t loaded, stored;		     /* bytes, by the accesses */
	uint64_t read, written, nontemporal_written; /* bytes, behind the caches */
};

static struct pm_traffic_settings machine;
static struct pm_cache caches[PM_SOCKETS_MAX];
static struct pm_near_memory near_memories[PM_NODES_MAX];
static struct sum sums[PM_SOCKETS_MAX][PM_NODES_MAX][PM_MAKERS];
static struct pm_near_traffic near_sums[PM_NODES_MAX];

static bool fail(const char *why)
{
	fprintf(stderr, "pmmeter: %s\n", why);
	return false;
}

bool pm_traffic_init(const struct pm_traffic_settings *settings)
{
	machine = *settings;
	if (!machine.sockets || machine.sockets > PM_SOCKETS_MAX)
		return fail("sockets=N needs 1 to 4 of them");
	if (!machine.n_ranges)
		return fail("node=N:START:BYTES says where a node's memory is, and there is none");
	for (unsigned i = 0; i < machine.sockets; i++)
		if (!pm_cache_init(&caches[i], machine.cache_bytes, machine.cache_ways))
			return fail("cache=BYTES:WAYS: a way has a power of two lines of 64 bytes");
	for (unsigned i = 0; machine.near_bytes && i < machine.n_ranges; i++)
		if (!pm_near_memory_init(
			    &near_memories[machine.ranges[i].node], machine.near_bytes))
			return fail("near=BYTES are whole lines of 64 bytes");
	return true;
}

/* PM_NODES_MAX: no node's. */
static unsigned node_of(uint64_t address)
{
	for (unsigned i = 0; i < machine.n_ranges; i++)
		if (address - machine.ranges[i].start < machine.ranges[i].bytes)
			return machine.ranges[i].node;
	return PM_NODES_MAX;
}

static void access_memory(unsigned node, uint64_t line, bool is_write)
{
	if (machine.near_bytes)
		pm_near_memory_access(&near_memories[node], line, is_write, &near_sums[node]);
}

static void write_back(unsigned socket, uint64_t line, enum pm_maker maker)
{
	unsigned node = node_of(line << PM_LINE_SHIFT);

	sums[socket][node][maker].written += PM_LINE_BYTES;
	access_memory(node, line, true);
}

static void write_back_evicted(unsigned socket, struct pm_cache_line evicted)
{
	if (evicted.tag && evicted.is_dirty)
		write_back(socket, evicted.tag - 1, evicted.owner);
}

/*
 * The other sockets give up a line that is stored to, and write back a line that is read and that
 * they had changed.
 */
static void ask_others(unsigned socket, uint64_t line, bool is_store)
{
	for (unsigned other = 0; other < machine.sockets; other++) {
		uint32_t maker;

		if (other == socket)
			continue;
		if (is_store)
			write_back_evicted(other, pm_cache_take(&caches[other], line));
		else if (pm_cache_clean(&caches[other], line, &maker))
			write_back(other, line, maker);
	}
}

static void count_line(
	unsigned socket, enum pm_maker maker, unsigned node, uint64_t line, bool is_store)
{
	struct pm_cache_line evicted;

	if (pm_cache_access(&caches[socket], line, maker, is_store, &evicted)) {
		if (is_store)
			ask_others(socket, line, true);
		return;
	}
	ask_others(socket, line, is_store);
	write_back_evicted(socket, evicted);
	sums[socket][node][maker].read += PM_LINE_BYTES;
	access_memory(node, line, false);
}

/* Past the caches, which give up the line. Memory Mode sees one write for each line that is begun.
 */
static void count_nontemporal(
	unsigned socket, struct sum *sum, unsigned node, uint64_t address, uint64_t bytes)
{
	uint64_t line = address >> PM_LINE_SHIFT;

	write_back_evicted(socket, pm_cache_take(&caches[socket], line));
	ask_others(socket, line, true);
	sum->nontemporal_written += bytes;
	if (!(address & (PM_LINE_BYTES - 1)))
		access_memory(node, line, true);
}

void pm_traffic_count(unsigned socket, enum pm_maker maker, uint64_t address, uint64_t bytes,
	bool is_store, bool is_nontemporal)
{
	unsigned node = node_of(address);
	uint64_t line = address >> PM_LINE_SHIFT, last = (address + bytes - 1) >> PM_LINE_SHIFT;
	struct sum *sum;

	if (node == PM_NODES_MAX)
		return;
	sum = &sums[socket][node][maker];
	*(is_store ? &sum->stored : &sum->loaded) += bytes;
	if (is_nontemporal && is_store) {
		count_nontemporal(socket, sum, node, address, bytes);
		return;
	}
	for (; line <= last; line++)
		count_line(socket, maker, node, line, is_store);
}

void pm_traffic_flush(void)
{
	for (unsigned socket = 0; socket < machine.sockets; socket++) {
		struct pm_cache *cache = &caches[socket];
		size_t lines = cache->sets * cache->ways;

		for (size_t i = 0; i < lines; i++)
			write_back_evicted(socket, cache->lines[i]);
		memset(cache->lines, 0, lines * sizeof(*cache->lines));
	}
}

static void write_sum(
	FILE *file, const char **separator, unsigned socket, unsigned node, enum pm_maker maker)
{
	static const char *const names[] = {"user", "kernel", "copies", "clears"};
	const struct sum *sum = &sums[socket][node][maker];

	if (!(sum->loaded | sum->stored | sum->read | sum->written))
		return;
	fprintf(file,
		"%s{\"socket\": %u, \"node\": %u, \"maker\": \"%s\", \"loaded_bytes\": %" PRIu64
		", \"stored_bytes\": %" PRIu64 ", \"read_bytes\": %" PRIu64
		", \"written_bytes\": %" PRIu64 ", \"nontemporal_written_bytes\": %" PRIu64 "}",
		*separator, socket, node, names[maker], sum->loaded, sum->stored, sum->read,
		sum->written, sum->nontemporal_written);
	*separator = ", ";
}

static void write_near(FILE *file, const char **separator, unsigned node)
{
	const struct pm_near_traffic *sum = &near_sums[node];

	fprintf(file,
		"%s{\"node\": %u, \"dram_read_bytes\": %" PRIu64
		", \"dram_written_bytes\": %" PRIu64 ", \"pmem_read_bytes\": %" PRIu64
		", \"pmem_written_bytes\": %" PRIu64 "}",
		*separator, node, sum->dram_read * PM_LINE_BYTES, sum->dram_written * PM_LINE_BYTES,
		sum->pmem_read * PM_LINE_BYTES, sum->pmem_written * PM_LINE_BYTES);
	*separator = ", ";
}

void pm_traffic_write(FILE *file, unsigned region)
{
	const char *separator = "";

	fprintf(file, "{\"region\": %u, \"traffic\": [", region);
	for (unsigned socket = 0; socket < machine.sockets; socket++)
		for (unsigned node = 0; node < PM_NODES_MAX; node++)
			for (enum pm_maker maker = 0; maker < PM_MAKERS; maker++)
				write_sum(file, &separator, socket, node, maker);
	fprintf(file, "], \"memory_mode\": [");
	separator = "";
	for (unsigned i = 0; machine.near_bytes && i < machine.n_ranges; i++)
		write_near(file, &separator, machine.ranges[i].node);
	fprintf(file, "]}\n");
	memset(sums, 0, sizeof(sums));
	memset(near_sums, 0, sizeof(near_sums));
}
