/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/kernel_dax.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/units.h"
#include "node/tools/node_memory.h"

#define MAX_FILE_BYTES (64 * 1024)
#define MAX_SEEN       64

static const char dax_dir[] = "sys/bus/dax/devices";

/* Several devices may lie on one region, and several regions on one node: each counts once. */
struct seen {
	uint64_t ids[MAX_SEEN];
	size_t n;
};

struct scan {
	int root_fd;
	struct seen regions, nodes;
	struct pm_kernel *kernel;
};

static bool is_new(struct seen *seen, uint64_t id)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->ids[i] == id)
			return false;
	if (seen->n < MAX_SEEN)
		seen->ids[seen->n++] = id;
	return true;
}

static bool read_link(int dir_fd, const char *path, char ret[PATH_MAX])
{
	ssize_t length = readlinkat(dir_fd, path, ret, PATH_MAX - 1);

	if (length < 0)
		return false;
	ret[length] = '\0';
	return true;
}

/* The link "../../../devices/.../ndbus0/region1/dax1.0/dax1.0" names region 1. */
static bool region_of(int dir_fd, const char *name, uint64_t *ret)
{
	static const char mark[] = "/region";
	char target[PATH_MAX], *found, *end;

	if (!read_link(dir_fd, name, target))
		return false;
	found = strstr(target, mark);
	if (!found)
		return false;
	found += strlen(mark);
	end = strchr(found, '/');
	if (end)
		*end = '\0';
	return !pm_parse_u64(found, ret);
}

static bool is_system_ram(int dir_fd, const char *name)
{
	char path[300], target[PATH_MAX];

	snprintf(path, sizeof(path), "%s/driver", name);
	return read_link(dir_fd, path, target) && !strcmp(basename(target), "kmem");
}

static int read_text(int dir_fd, const char *path, char **ret, struct pm_err *err)
{
	return pm_file_read(dir_fd, path, MAX_FILE_BYTES, ret, NULL, err);
}

/* The kernel writes -1 if the firmware has given no node: an error here, as system-ram has one. */
static int target_node(int dir_fd, const char *name, uint64_t *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char path[300];
	int rc;

	snprintf(path, sizeof(path), "%s/target_node", name);
	rc = read_text(dir_fd, path, &text, err);
	if (rc)
		return rc;
	text[strcspn(text, "\n")] = '\0';
	if (pm_parse_u64(text, ret))
		return pm_err_set(err, -EBADMSG, "read '%s/%s': a NUMA node expected, not '%.60s'",
			dax_dir, path, text);
	return 0;
}

/* 0 bytes for a node that is not there: its memory is offline. */
static int node_memory(int root_fd, uint64_t node, uint64_t *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char path[100];
	int rc;

	snprintf(path, sizeof(path), "sys/devices/system/node/node%llu/meminfo",
		(unsigned long long)node);
	*ret = 0;
	rc = read_text(root_fd, path, &text, err);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (!pm_meminfo_find(text, " MemTotal:", ret))
		return pm_err_set(err, -EBADMSG, "read '%s': no MemTotal in it", path);
	return 0;
}

/* A node with CPUs has DRAM too, so that the part that was added is unknown. */
static bool has_cpus(int root_fd, uint64_t node)
{
	cleanup_free char *text = NULL;
	char path[100];

	snprintf(path, sizeof(path), "sys/devices/system/node/node%llu/cpulist",
		(unsigned long long)node);
	return !read_text(root_fd, path, &text, NULL) && text[strspn(text, " \n")];
}

static int add_device(int dir_fd, const char *name, void *context, struct pm_err *err)
{
	struct scan *scan = context;
	uint64_t region, node, bytes = 0;
	int rc;

	if (!is_system_ram(dir_fd, name) || !region_of(dir_fd, name, &region))
		return 0;
	rc = target_node(dir_fd, name, &node, err);
	if (!rc)
		rc = node_memory(scan->root_fd, node, &bytes, err);
	if (rc || !bytes)
		return rc;
	if (is_new(&scan->regions, region))
		scan->kernel->n_flat_regions++;
	if (is_new(&scan->nodes, node) && !has_cpus(scan->root_fd, node))
		scan->kernel->flat_bytes += bytes;
	return 0;
}

int pm_kernel_add_dax(int root_fd, struct pm_kernel *kernel, struct pm_err *err)
{
	struct scan scan = {.root_fd = root_fd, .kernel = kernel};

	return pm_directory_each(root_fd, dax_dir, "dax", add_device, &scan, err);
}
