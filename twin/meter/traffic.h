/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_METER_TRAFFIC_H
#define PM_METER_TRAFFIC_H

/*
 * The traffic of a guest: accesses of the processors of each socket to the memory of each NUMA
 * node, by who made them, behind a last-level cache a socket.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "twin/meter/cache.h"

#define PM_SOCKETS_MAX 4
#define PM_NODES_MAX   16

enum pm_maker {
	PM_USER,   /* programs */
	PM_KERNEL, /* the kernel, except for: */
	PM_COPIES, /* its functions that copy pages, to migrate them or for a writer of a shared
		      page */
	PM_CLEARS, /* and its functions that clear pages, for whom touches them first */
	PM_MAKERS,
};

struct pm_node_range {
	unsigned node;
	uint64_t start, bytes; /* guest-physical */
};

struct pm_traffic_settings {
	size_t cache_bytes; /* of each socket */
	unsigned cache_ways, sockets;
	size_t near_bytes; /* DRAM of each node in Memory Mode; 0: not in Memory Mode */
	struct pm_node_range ranges[PM_NODES_MAX];
	unsigned n_ranges;
};

/* False: the settings are no machine; it is said why. */
bool pm_traffic_init(const struct pm_traffic_settings *settings);

/* One access; bytes may reach into the next line. Addresses outside of all nodes are not counted.
 */
void pm_traffic_count(unsigned socket, enum pm_maker maker, uint64_t address, uint64_t bytes,
	bool is_store, bool is_nontemporal);

/* Writes back all dirty lines and empties the caches, as at the begin and end of a region of
 * interest. */
void pm_traffic_flush(void);

/* Writes the sums as a line of JSON, and begins anew. */
void pm_traffic_write(FILE *file, unsigned region);

#endif
