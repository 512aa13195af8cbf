/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/gather.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/see/survey.h"
#include "node/tools/mounts.h"

#define MAX_FILE_BYTES	(64 * 1024)
#define MAX_TABLE_BYTES (1024 * 1024)
#define MAX_DEPTH	12

static const char *const files[] = {
	"proc/meminfo",
	"proc/iomem",
	"proc/modules",
	"proc/version",
	"proc/sys/kernel/random/boot_id",
	"sys/devices/system/memory/auto_online_blocks",
	"sys/kernel/mm/numa/demotion_enabled",
	"sys/devices/system/memory/block_size_bytes",
	"sys/devices/system/node/online",
	"sys/devices/system/node/has_memory",
	"sys/devices/system/node/has_cpu",
	"sys/firmware/acpi/tables/NFIT",
	"sys/firmware/acpi/tables/PCAT",
	"sys/firmware/acpi/tables/PMTT",
	"sys/firmware/acpi/tables/SRAT",
	"sys/firmware/acpi/tables/SLIT",
	"sys/firmware/acpi/tables/HMAT",
};

/* Directories of links to devices. The links with this prefix and their devices are copied. */
static const struct bus {
	const char *path, *prefix;
} buses[] = {
	{"sys/bus/nd/devices", ""},
	{"sys/bus/dax/devices", ""},
	{"sys/class/block", "pmem"},
};

/* Files of a node's directory. The directory also has a link to each block of memory. */
static const char *const node_files[] = {"cpulist", "distance", "meminfo",
	"memory_side_cache/index1/size", "memory_side_cache/index1/line_size",
	"memory_side_cache/index1/indexing", "memory_side_cache/index1/write_policy",
	"access0/initiators/read_bandwidth", "access0/initiators/write_bandwidth",
	"access0/initiators/read_latency", "access0/initiators/write_latency"};

#define N(table) (sizeof(table) / sizeof((table)[0]))

struct walk {
	struct pm_gather *gather;
	int root_fd;
	struct pm_err *err;
};

/*
 * Files of sysfs may be for writing only, or cannot be read in this state of the device. If a file
 * that `is_wanted` cannot be read, `missing` gets a line.
 */
static int add_file(const struct walk *walk, const char *path, bool is_wanted)
{
	cleanup_free char *data = NULL;
	char name[PATH_MAX + 8];
	struct pm_err why;
	size_t length;

	if (pm_file_read(walk->root_fd, path,
		    strstr(path, "acpi/tables") ? MAX_TABLE_BYTES : MAX_FILE_BYTES, &data, &length,
		    &why)) {
		if (is_wanted)
			pm_gather_miss(walk->gather, "%s", why.text);
		return 0;
	}
	snprintf(name, sizeof(name), "root/%s", path);
	return pm_archive_add(walk->gather->archive, name, data, length, walk->err);
}

static int add_link(const struct walk *walk, const char *path)
{
	char name[PATH_MAX + 8], target[PATH_MAX];
	ssize_t length = readlinkat(walk->root_fd, path, target, sizeof(target) - 1);

	if (length < 0)
		return 0;
	target[length] = '\0';
	snprintf(name, sizeof(name), "root/%s", path);
	return pm_archive_add_link(walk->gather->archive, name, target, walk->err);
}

static int add_tree(const struct walk *walk, const char *path, unsigned depth);

/* "power" is the same for all devices, and not about memory. */
static int add_entry(const struct walk *walk, const char *path, const char *name, unsigned depth)
{
	char below[PATH_MAX];
	struct stat st;

	if (name[0] == '.' || !strcmp(name, "power") ||
		snprintf(below, sizeof(below), "%s/%s", path, name) >= (int)sizeof(below) ||
		fstatat(walk->root_fd, below, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (S_ISLNK(st.st_mode))
		return add_link(walk, below);
	if (S_ISDIR(st.st_mode))
		return add_tree(walk, below, depth + 1);
	if (S_ISREG(st.st_mode) && (st.st_mode & 0444))
		return add_file(walk, below, /* is_wanted= */ false);
	return 0;
}

static int add_tree(const struct walk *walk, const char *path, unsigned depth)
{
	cleanup_dir DIR *dir = NULL;
	int fd = openat(walk->root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	const struct dirent *entry;
	int rc = 0;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir || depth > MAX_DEPTH) {
		pm_gather_miss(walk->gather, "%s: %s", path, dir ? "too deep" : strerror(errno));
		return 0;
	}
	while (!rc && (entry = readdir(dir)))
		rc = add_entry(walk, path, entry->d_name, depth);
	return rc;
}

/* From a link as "../../../devices/LNXSYSTM:00/ndbus0" to "sys/devices/LNXSYSTM:00/ndbus0". */
static bool target_of(const struct walk *walk, const char *link, char ret[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(walk->root_fd, link, target, sizeof(target) - 1);
	const char *at;

	if (length < 0)
		return false;
	target[length] = '\0';
	at = strstr(target, "/devices/");
	return at && snprintf(ret, PATH_MAX, "sys%s", at) < PATH_MAX;
}

/* All devices of a bus of persistent memory are below the bus, so the tree of the bus has them. */
static bool is_inside_bus(const char *path)
{
	const char *bus = strstr(path, "/ndbus");

	return bus && strchr(bus + 1, '/');
}

static int add_bus(const struct walk *walk, const struct bus *bus)
{
	cleanup_dir DIR *dir = NULL;
	int fd = openat(walk->root_fd, bus->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	const struct dirent *entry;

	dir = fd < 0 ? NULL : fdopendir(fd);
	while (!rc && dir && (entry = readdir(dir))) {
		char link[PATH_MAX], target[PATH_MAX];

		if (entry->d_name[0] == '.' ||
			strncmp(entry->d_name, bus->prefix, strlen(bus->prefix)))
			continue;
		snprintf(link, sizeof(link), "%s/%s", bus->path, entry->d_name);
		rc = add_link(walk, link);
		if (!rc && target_of(walk, link, target) && !is_inside_bus(target))
			rc = add_tree(walk, target, 0);
	}
	return rc;
}

static int add_node(const struct walk *walk, const char *node)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < N(node_files); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "sys/devices/system/node/%s/%s", node, node_files[i]);
		rc = add_file(walk, path, /* is_wanted= */ false);
	}
	return rc;
}

static int add_nodes(const struct walk *walk)
{
	static const char path[] = "sys/devices/system/node";
	cleanup_dir DIR *dir = NULL;
	int fd = openat(walk->root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	const struct dirent *entry;

	dir = fd < 0 ? NULL : fdopendir(fd);
	while (!rc && dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "node", 4) && strspn(entry->d_name + 4, "0123456789"))
			rc = add_node(walk, entry->d_name);
	return rc;
}

/* "sys/devices/system/cpu/cpu0/topology/physical_package_id": which node is on which socket. */
static int add_processors(const struct walk *walk)
{
	int rc = 0;

	for (unsigned cpu = 0; !rc && cpu < 8192; cpu++) {
		char path[100];

		snprintf(path, sizeof(path),
			"sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
		if (faccessat(walk->root_fd, path, F_OK, 0))
			break;
		rc = add_file(walk, path, /* is_wanted= */ false);
	}
	return rc;
}

/*
 * True for lines of mounts of persistent memory or below MountDir. Users may have named other
 * mounts.
 */
static bool is_ours(const struct walk *walk, const char *line, size_t length)
{
	const char *dir = walk->gather->agent->op.config.mount_dir;

	return memmem(line, length, " /dev/pmem", strlen(" /dev/pmem")) ||
	       memmem(line, length, dir, strlen(dir));
}

static int add_mounts(const struct walk *walk)
{
	static const char path[] = "proc/self/mountinfo";
	cleanup_free char *text = NULL, *kept = NULL;
	struct pm_err why;
	size_t used = 0;

	if (pm_file_read(walk->root_fd, path, MAX_TABLE_BYTES, &text, NULL, &why)) {
		pm_gather_miss(walk->gather, "%s", why.text);
		return 0;
	}
	kept = malloc(strlen(text) + 1);
	if (!kept)
		return pm_err_nomem(walk->err);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		length += line[length] == '\n';
		if (is_ours(walk, line, length)) {
			memcpy(kept + used, line, length);
			used += length;
		}
		line += length;
	}
	return pm_archive_add(
		walk->gather->archive, "root/proc/self/mountinfo", kept, used, walk->err);
}

/* The superblock of an own file system, which identifies it. No user data is copied. */
static int add_superblock(const struct walk *walk, const char *device)
{
	char path[80], name[80], bytes[PM_SUPERBLOCK_BYTES];
	cleanup_close int fd = -1;
	ssize_t length;

	snprintf(path, sizeof(path), "/dev/%s", device);
	snprintf(name, sizeof(name), "root/dev/%s", device);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	length = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	if (length < 0) {
		pm_gather_miss(walk->gather, "%s: %s", path, strerror(errno));
		return 0;
	}
	return pm_archive_add(walk->gather->archive, name, bytes, (size_t)length, walk->err);
}

static int add_superblocks(const struct walk *walk)
{
	cleanup_with(pm_survey_done) struct pm_survey survey = {0};
	struct pm_err why;
	int rc = 0;

	if (pm_survey(&walk->gather->agent->op.config, &survey, &why)) {
		pm_gather_miss(walk->gather, "regions: %s", why.text);
		return 0;
	}
	pm_inventory_foreach(ns, region, &survey.inventory)
	{
		if (!rc && ns->is_own && *ns->fs.type)
			rc = add_superblock(walk, ns->nd.blockdev);
	}
	return rc;
}

int pm_gather_kernel(struct pm_gather *gather, struct pm_err *err)
{
	cleanup_close int root_fd =
		open(gather->agent->op.config.fs_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct walk walk = {gather, root_fd, err};
	int rc = 0;

	if (root_fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", gather->agent->op.config.fs_root);
	for (size_t i = 0; !rc && i < N(files); i++)
		rc = add_file(&walk, files[i], /* is_wanted= */ true);
	for (size_t i = 0; !rc && i < N(buses); i++)
		rc = add_bus(&walk, &buses[i]);
	if (!rc)
		rc = add_nodes(&walk);
	if (!rc)
		rc = add_processors(&walk);
	if (!rc)
		rc = add_mounts(&walk);
	return rc ? rc : add_superblocks(&walk);
}
