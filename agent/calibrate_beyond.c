/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/calibrate_beyond.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "plan/apply/memory_limit.h"

/*
 * An array that is written and one that is read have the same place in a cache that is mapped
 * directly when both together are twice its size. With half as much more most lines would stay.
 */
#define TIMES_CACHE 2

/* The part of the free memory, or of the job's limit, that is taken at most: 3 of 4. */
static uint64_t needed_for(uint64_t bytes)
{
	return bytes / 3 * 4;
}

static uint64_t cache_of(const struct pm_calibrate_sockets *sockets, unsigned i)
{
	const struct pm_topology *topology = sockets->topology;

	for (unsigned n = 0; n < topology->n_nodes; n++)
		if (topology->nodes[n].node == sockets->list[i].dram.node)
			return topology->nodes[n].cache_bytes;
	return 0;
}

static int set_socket(struct pm_calibrate_sockets *sockets, unsigned i, struct pm_err *why)
{
	struct pm_calibrate_socket *socket = &sockets->list[i];
	uint64_t cache = cache_of(sockets, i), needed = needed_for(cache * TIMES_CACHE);
	uint64_t room = pm_area_room(&socket->dram);
	char need[PM_SIZE_TEXT], have[PM_SIZE_TEXT];

	if (!cache)
		return pm_err_set(why, -ENODEV,
			"socket %u: the kernel shows no memory-side cache, so the size of the "
			"DRAM that caches is unknown",
			socket->number);
	if (room < needed)
		return pm_err_set(why, -ENOMEM, "socket %u: %s are needed, %s are free",
			socket->number, pm_format_size(needed, need), pm_format_size(room, have));
	socket->beyond_bytes = cache * TIMES_CACHE;
	return 0;
}

static int check_limit(
	const char *fs_root, const struct pm_calibrate_sockets *sockets, struct pm_err *why)
{
	cleanup_close int root = open(fs_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t limit, needed = 0;
	char need[PM_SIZE_TEXT], have[PM_SIZE_TEXT];
	int rc = root < 0 ? pm_err_sys(why, -errno, "open '%s'", fs_root)
			  : pm_memory_limit(root, &limit, why);

	if (rc)
		return rc;
	for (unsigned i = 0; i < sockets->n; i++)
		needed += needed_for(sockets->list[i].beyond_bytes);
	if (!limit || limit >= needed)
		return 0;
	return pm_err_set(why, -ENOMEM, "%s are needed, the job may use %s; submit it with --mem=0",
		pm_format_size(needed, need), pm_format_size(limit, have));
}

void pm_calibrate_beyond(
	const char *fs_root, struct pm_calibrate_sockets *sockets, struct pm_err *ret_why)
{
	int rc = 0;

	*ret_why = (struct pm_err){0};
	if (!sockets->list[0].is_memory_mode)
		return;
	for (unsigned i = 0; !rc && i < sockets->n; i++)
		rc = set_socket(sockets, i, ret_why);
	if (!rc)
		rc = check_limit(fs_root, sockets, ret_why);
	for (unsigned i = 0; rc && i < sockets->n; i++)
		sockets->list[i].beyond_bytes = 0;
}
