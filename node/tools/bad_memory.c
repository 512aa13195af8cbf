/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/bad_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/tools/node_memory.h"
#include "node/tools/nvdimm.h"

#define PAGE_BYTES 4096

/* /dev/kmsg gives a record a read(2), and none is longer (CONSOLE_EXT_LOG_MAX). */
#define RECORD_MAX 8192

/* A clock of another processor may be behind. */
#define MARGIN_S 2

/* The kernel prints at most a page of bad blocks. */
#define MAX_TEXT 65536

/* --- the kernel's log --- */

/* "6,812,256823668,-;Memory failure: 0x14c600: recovery action for dax page: Recovered" */
static bool parse(const char *record, uint64_t since_us, struct pm_bad_page *ret)
{
	uint64_t us, frame;
	int text = 0;

	if (sscanf(record, "%*u,%*u,%" SCNu64 ",%*[^;];%n", &us, &text) != 1 || !text ||
		us < since_us ||
		sscanf(record + text, "Memory failure: 0x%" SCNx64 ": recovery action for ",
			&frame) != 1 ||
		!strstr(record + text, "recovery action for "))
		return false;
	ret->address = frame * PAGE_BYTES;
	ret->is_dax = strstr(record + text, "action for dax page") != NULL;
	return true;
}

/* A file, as in a test, gives many records a read(2). */
static size_t take(char *records, uint64_t since_us, struct pm_bad_page *ret, size_t n, size_t max)
{
	for (char *one; n < max && (one = strsep(&records, "\n"));)
		n += parse(one, since_us, &ret[n]);
	return n;
}

static int open_below(const char *root, const char *path, int flags)
{
	cleanup_close int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : openat(fd, path, flags | O_CLOEXEC);
}

size_t pm_bad_pages(const char *root, uint64_t seconds, struct pm_bad_page *ret, size_t max)
{
	cleanup_close int fd = open_below(root, "dev/kmsg", O_RDONLY | O_NONBLOCK);
	uint64_t now_s = pm_now_ms() / 1000, age_s = seconds + MARGIN_S;
	uint64_t since_us = now_s > age_s ? (now_s - age_s) * 1000000 : 0;
	char records[RECORD_MAX + 1];
	size_t n = 0;
	ssize_t got;

	/* EPIPE: records were overwritten meanwhile, and the next one is there. */
	while (fd >= 0 && ((got = read(fd, records, RECORD_MAX)) > 0 ||
				  (got < 0 && (errno == EPIPE || errno == EINTR)))) {
		records[got > 0 ? got : 0] = '\0';
		n = take(records, since_us, ret, n, max);
	}
	return n;
}

/* --- places --- */

static int read_block_bytes(const char *root, uint64_t *ret)
{
	cleanup_close int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *text = NULL;
	int rc = pm_file_read(
		fd, "sys/devices/system/memory/block_size_bytes", MAX_TEXT, &text, NULL, NULL);

	if (rc)
		return rc;
	*ret = strtoull(text, NULL, 16);
	return *ret ? 0 : -EBADMSG;
}

/* Each node's directory has a link memoryN for each of its blocks. */
int pm_bad_page_node(const char *root, uint64_t address)
{
	cleanup_close int fd = open_below(root, "sys/devices/system/node", O_RDONLY | O_DIRECTORY);
	cleanup_dir DIR *dir = fd < 0 ? NULL : fdopendir(dup(fd));
	uint64_t bytes;
	int number;

	if (!dir || read_block_bytes(root, &bytes))
		return -1;
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/memory%" PRIu64, entry->d_name, address / bytes);
		if (sscanf(entry->d_name, "node%d", &number) == 1 &&
			!faccessat(fd, path, F_OK, AT_SYMLINK_NOFOLLOW))
			return number;
	}
	return -1;
}

/* resource is hexadecimal with 0x, size decimal. */
static uint64_t region_number(int root_fd, const char *region, const char *file)
{
	cleanup_free char *text = NULL;

	return pm_nvdimm_text(root_fd, region, file, &text, NULL) ? 0 : strtoull(text, NULL, 0);
}

static int region_socket(const char *root, int root_fd, const char *region)
{
	long long node = -1;

	(void)pm_nvdimm_number(root_fd, region, "numa_node", &node, NULL);
	return pm_node_socket(root, (int)node);
}

int pm_bad_page_socket(const char *root, uint64_t address)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names regions = {0};
	cleanup_close int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0 || pm_nvdimm_list(root_fd, "region", &regions, NULL))
		return -1;
	for (size_t i = 0; i < regions.n; i++) {
		uint64_t start = region_number(root_fd, regions.list[i], "resource");

		if (address >= start &&
			address - start < region_number(root_fd, regions.list[i], "size"))
			return region_socket(root, root_fd, regions.list[i]);
	}
	return -1;
}

/* A line for each range: its first block, and their number. */
static int count_blocks(const char *text, uint64_t *ret, struct pm_err *err)
{
	uint64_t sum = 0, n;
	int length;

	for (; *text; text += length) {
		if (sscanf(text, "%*u %" SCNu64 " %n", &n, &length) != 1)
			return pm_err_set(err, -EBADMSG,
				"two numbers expected in a list of bad blocks, not '%.*s'",
				(int)strcspn(text, "\n"), text);
		sum += n;
	}
	*ret = sum;
	return 0;
}

int pm_bad_blocks_of(int root_fd, const char *region, uint64_t *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char path[120];
	int rc;

	snprintf(path, sizeof(path), "sys/bus/nd/devices/%.40s/badblocks", region);
	rc = pm_file_read(root_fd, path, MAX_TEXT, &text, NULL, err);
	return rc ? rc : count_blocks(text, ret, err);
}

uint64_t pm_bad_blocks(const char *root, unsigned socket)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names regions = {0};
	cleanup_close int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t sum = 0;

	if (root_fd < 0 || pm_nvdimm_list(root_fd, "region", &regions, NULL))
		return 0;
	for (size_t i = 0; i < regions.n; i++) {
		uint64_t n;

		if (region_socket(root, root_fd, regions.list[i]) == (int)socket &&
			!pm_bad_blocks_of(root_fd, regions.list[i], &n, NULL))
			sum += n;
	}
	return sum;
}
