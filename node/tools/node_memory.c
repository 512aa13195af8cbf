/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/node_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/file.h"

#define MAX_FILE_BYTES (64 * 1024)
#define MARGIN	       32
#define MAX_NODE       65535

/* "Node 2 MemFree:         875432 kB" */
bool pm_meminfo_find(const char *text, const char *key, uint64_t *ret_bytes)
{
	const char *at = strstr(text, key);
	unsigned long long kib;

	if (!at || sscanf(at + strlen(key), " %llu kB", &kib) != 1 || kib > INT64_MAX / 1024)
		return false;
	*ret_bytes = kib * 1024;
	return true;
}

int pm_node_memory_read(const char *root, int node, struct pm_node_memory *ret, struct pm_err *err)
{
	struct pm_node_memory memory = {0};
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%d/meminfo", root, node);
	rc = pm_file_read(AT_FDCWD, path, MAX_FILE_BYTES, &text, NULL, err);
	if (rc && rc != -ENOENT)
		return rc;
	if (!rc && (!pm_meminfo_find(text, " MemTotal:", &memory.total_bytes) ||
			   !pm_meminfo_find(text, " MemFree:", &memory.free_bytes) ||
			   memory.free_bytes > memory.total_bytes))
		return pm_err_set(err, -EBADMSG, "read '%s': no MemTotal and MemFree in it", path);
	memory.used_bytes = memory.total_bytes - memory.free_bytes;
	*ret = memory;
	return 0;
}

static void add(struct pm_node_memory *sum, const struct pm_node_memory *one)
{
	sum->total_bytes += one->total_bytes;
	sum->free_bytes += one->free_bytes;
	sum->used_bytes += one->used_bytes;
}

static bool is_one_of(int node, const int *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (nodes[i] == node)
			return true;
	return false;
}

/* "node12" is 12, all else -1. */
static int node_of(const char *name)
{
	int node, end = 0;

	if (sscanf(name, "node%d%n", &node, &end) != 1 || name[end] || node < 0 || node > MAX_NODE)
		return -1;
	return node;
}

int pm_node_memory_split(const char *root, const int *nodes, size_t n, struct pm_node_memory *ret,
	struct pm_node_memory *ret_others, struct pm_err *err)
{
	struct pm_node_memory mine = {0}, others = {0}, one;
	cleanup_dir DIR *dir = NULL;
	const struct dirent *entry;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/devices/system/node", root);
	dir = opendir(path);
	if (!dir)
		return pm_err_sys(err, -errno, "open '%s'", path);
	while ((entry = readdir(dir))) {
		int node = node_of(entry->d_name), rc;

		if (node < 0)
			continue;
		rc = pm_node_memory_read(root, node, &one, err);
		if (rc)
			return rc;
		add(is_one_of(node, nodes, n) ? &mine : &others, &one);
	}
	*ret = mine;
	*ret_others = others;
	return 0;
}

bool pm_node_memory_fits(const struct pm_node_memory *nodes, const struct pm_node_memory *others)
{
	return others->free_bytes > nodes->used_bytes + others->total_bytes / MARGIN;
}

static int first_cpu(const char *root, int node)
{
	cleanup_close int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cpu_set_t set;

	if (fd < 0 || pm_cpulist_of_node(fd, node, &set, NULL))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return -1;
}

int pm_node_socket(const char *root, int node)
{
	int cpu = node < 0 ? -1 : first_cpu(root, node), socket;
	cleanup_free char *text = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		root, cpu);
	if (cpu < 0 || pm_file_read(AT_FDCWD, path, MAX_FILE_BYTES, &text, NULL, NULL) ||
		sscanf(text, "%d", &socket) != 1 || socket < 0)
		return node < 0 ? 0 : node;
	return socket;
}
