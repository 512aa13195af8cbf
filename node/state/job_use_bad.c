/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/job_use_bad.h"

#include <string.h>
#include <time.h>

#include "node/tools/bad_memory.h"
#include "node/tools/node_memory.h"

#define PAGES_MAX 64

static bool is_dir(const struct pm_use_part *part)
{
	return !strcmp(part->tier, "dir");
}

static struct pm_use_part *part_on_socket(struct pm_job_use *use, const char *tier, uint32_t socket)
{
	for (size_t i = 0; i < use->n_parts; i++)
		if (!strcmp(use->parts[i].tier, tier) && use->parts[i].socket == socket)
			return &use->parts[i];
	return NULL;
}

/*
 * By the region: a file in the job's directory, a device, or flat memory, which is offline since
 * the job's end.
 */
static struct pm_use_part *region_part(
	const char *fs_root, struct pm_job_use *use, const struct pm_bad_page *page)
{
	int socket = pm_bad_page_socket(fs_root, page->address);
	struct pm_use_part *part;

	if (socket < 0)
		return NULL;
	part = part_on_socket(use, page->is_dax ? "dir" : "pmem", (uint32_t)socket);
	return part ? part : pm_job_use_part(use, "pmem", (uint32_t)socket, (uint32_t)socket);
}

/* The tier of a NUMA node is in the part that the job has used of it. */
static struct pm_use_part *node_part(const char *fs_root, struct pm_job_use *use, int node)
{
	for (size_t i = 0; i < use->n_parts; i++)
		if (!is_dir(&use->parts[i]) && use->parts[i].number == (uint32_t)node)
			return &use->parts[i];
	return pm_job_use_part(
		use, "dram", (uint32_t)node, (uint32_t)pm_node_socket(fs_root, node));
}

static struct pm_use_part *part_of(
	const char *fs_root, struct pm_job_use *use, const struct pm_bad_page *page)
{
	int node = page->is_dax ? -1 : pm_bad_page_node(fs_root, page->address);

	return node < 0 ? region_part(fs_root, use, page) : node_part(fs_root, use, node);
}

void pm_use_add_bad(const char *fs_root, struct pm_job_use *use)
{
	struct pm_bad_page pages[PAGES_MAX];
	uint64_t now_s = (uint64_t)time(NULL);
	size_t n = pm_bad_pages(
		fs_root, now_s > use->begin_s ? now_s - use->begin_s : 0, pages, PAGES_MAX);

	for (size_t i = 0; i < n; i++) {
		struct pm_use_part *part = part_of(fs_root, use, &pages[i]);

		if (part)
			part->bad_pages++;
	}
	for (size_t i = 0; i < use->n_parts; i++)
		if (is_dir(&use->parts[i]))
			use->parts[i].bad_pages += pm_bad_blocks(fs_root, use->parts[i].socket);
}
