/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/units.h"
#include "node/tools/kernel_dax.h"
#include "node/tools/node_memory.h"

#define MAX_FILE_BYTES (64 * 1024)

static int read_line(int dir_fd, const char *path, char **ret, struct pm_err *err)
{
	int rc = pm_file_read(dir_fd, path, MAX_FILE_BYTES, ret, NULL, err);

	if (!rc)
		(*ret)[strcspn(*ret, "\n")] = '\0';
	return rc;
}

static int read_number(int dir_fd, const char *path, uint64_t *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	int rc = read_line(dir_fd, path, &text, err);

	if (rc)
		return rc;
	if (pm_parse_u64(text, ret))
		return pm_err_set(
			err, -EBADMSG, "read '%s': a number expected, not '%.60s'", path, text);
	return 0;
}

static int open_root(const char *root, struct pm_err *err)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : pm_err_sys(err, -errno, "open '%s'", root);
}

static int read_boot_id(int root_fd, char ret[PM_BOOT_ID_MAX], struct pm_err *err)
{
	static const char path[] = "proc/sys/kernel/random/boot_id";
	cleanup_free char *text = NULL;
	int rc = read_line(root_fd, path, &text, err);

	if (rc)
		return rc;
	if (!*text || strlen(text) >= PM_BOOT_ID_MAX ||
		text[strspn(text, "0123456789abcdefABCDEF-")])
		return pm_err_set(
			err, -EBADMSG, "read '%s': a UUID expected, not '%.60s'", path, text);
	strcpy(ret, text);
	return 0;
}

int pm_kernel_boot_id(const char *root, char ret[PM_BOOT_ID_MAX], struct pm_err *err)
{
	cleanup_close int fd = open_root(root, err);

	return fd < 0 ? fd : read_boot_id(fd, ret, err);
}

static int read_mem_total(int root_fd, uint64_t *ret, struct pm_err *err)
{
	static const char path[] = "proc/meminfo";
	cleanup_free char *text = NULL;
	int rc = pm_file_read(root_fd, path, MAX_FILE_BYTES, &text, NULL, err);

	if (!rc && !pm_meminfo_find(text, "MemTotal:", ret))
		rc = pm_err_set(err, -EBADMSG, "read '%s': no MemTotal in it", path);
	return rc;
}

/* Regions of other kinds (volatile, block) do not count; one without devtype is taken as pmem. */
static bool is_pmem_region(int dir_fd, const char *name)
{
	cleanup_free char *text = NULL;
	char path[300];

	snprintf(path, sizeof(path), "%s/devtype", name);
	return read_line(dir_fd, path, &text, NULL) || !strcmp(text, "nd_pmem");
}

static int add_region(int dir_fd, const char *name, void *context, struct pm_err *err)
{
	struct pm_kernel *kernel = context;
	char path[300];
	uint64_t bytes;
	int rc;

	if (!is_pmem_region(dir_fd, name))
		return 0;
	snprintf(path, sizeof(path), "%s/size", name);
	rc = read_number(dir_fd, path, &bytes, err);
	if (rc)
		return rc;
	kernel->n_regions++;
	kernel->region_bytes += bytes;
	return 0;
}

static int add_cache(int dir_fd, const char *name, void *context, struct pm_err *err)
{
	struct pm_kernel *kernel = context;
	char path[300];
	uint64_t bytes;
	int rc;

	snprintf(path, sizeof(path), "%s/memory_side_cache/index1/size", name);
	rc = read_number(dir_fd, path, &bytes, err);
	if (!rc)
		kernel->side_cache_bytes += bytes;
	return rc == -ENOENT || rc == -ENOTDIR ? 0 : rc;
}

uint64_t pm_kernel_boot_memory(const struct pm_kernel *kernel)
{
	return kernel->mem_total_bytes - MIN(kernel->flat_bytes, kernel->mem_total_bytes);
}

uint64_t pm_kernel_memory_in(const struct pm_kernel *kernel, enum pm_mode mode)
{
	return pm_kernel_boot_memory(kernel) + (mode == PM_MODE_FLAT ? kernel->region_bytes : 0);
}

int pm_kernel_read(const char *root, struct pm_kernel *ret, struct pm_err *err)
{
	cleanup_close int fd = open_root(root, err);
	struct pm_kernel kernel = {0};
	int rc;

	if (fd < 0)
		return fd;
	rc = read_boot_id(fd, kernel.boot_id, err);
	if (!rc)
		rc = read_mem_total(fd, &kernel.mem_total_bytes, err);
	if (!rc)
		rc = pm_directory_each(
			fd, "sys/bus/nd/devices", "region", add_region, &kernel, err);
	if (!rc)
		rc = pm_directory_each(
			fd, "sys/devices/system/node", "node", add_cache, &kernel, err);
	if (!rc)
		rc = pm_kernel_add_dax(fd, &kernel, err);
	if (!rc)
		*ret = kernel;
	return rc;
}
