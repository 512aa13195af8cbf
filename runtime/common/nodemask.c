/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/common/nodemask.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/common/cancel.h"

#define WORD_BITS	(8 * sizeof(unsigned long))
#define MARGIN_SHARE	64 /* of a node's size, at most MARGIN_MAX: for the kernel's watermarks */
#define MARGIN_MAX	(UINT64_C(256) << 20)
#define KIB		1024
#define NODE_FILE_BYTES 4096
#define PAGE_BYTES	4096

static bool parse_number(const char **text, unsigned long *ret)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*ret = strtoul(*text, &end, 10);
	*text = end;
	return *ret < PM_NUMA_NODES_MAX;
}

bool pm_nodemask_parse(const char *text, struct pm_nodemask *ret)
{
	struct pm_nodemask nodes = {0};
	unsigned long first, last;

	do {
		if (!parse_number(&text, &first))
			return false;
		last = first;
		if (*text == '-' && (text++, !parse_number(&text, &last) || last < first))
			return false;
		for (unsigned long node = first; node <= last; node++)
			nodes.bits[node / WORD_BITS] |= 1UL << node % WORD_BITS;
	} while (*text == ',' && text++);
	if (*text)
		return false;
	*ret = nodes;
	return true;
}

bool pm_nodemask_empty(const struct pm_nodemask *nodes)
{
	for (size_t i = 0; i < sizeof(nodes->bits) / sizeof(nodes->bits[0]); i++)
		if (nodes->bits[i])
			return false;
	return true;
}

bool pm_nodemask_isset(const struct pm_nodemask *nodes, unsigned node)
{
	return node < PM_NUMA_NODES_MAX && nodes->bits[node / WORD_BITS] >> node % WORD_BITS & 1;
}

static bool read_meminfo(unsigned node, char *text, size_t size)
{
	int fd, cancel = pm_cancel_disable();
	char path[64];
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	pm_cancel_restore(cancel);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Bytes of a line "Node 0 MemFree:       12345 kB"; 0: no such line. */
static uint64_t field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) * KIB : 0;
}

static uint64_t total_in(const char *text)
{
	return field(text, " MemTotal:");
}

static uint64_t available_in(const char *text)
{
	uint64_t margin = total_in(text) / MARGIN_SHARE;
	uint64_t bytes = field(text, " MemFree:") + field(text, " Active(file):") +
			 field(text, " Inactive(file):");

	if (margin > MARGIN_MAX)
		margin = MARGIN_MAX;
	return bytes > margin ? bytes - margin : 0;
}

static uint64_t sum(const struct pm_nodemask *nodes, uint64_t (*of)(const char *text))
{
	char text[NODE_FILE_BYTES];
	uint64_t bytes = 0;

	for (unsigned node = 0; node < PM_NUMA_NODES_MAX; node++) {
		if (!pm_nodemask_isset(nodes, node))
			continue;
		if (!read_meminfo(node, text, sizeof(text)))
			return UINT64_MAX;
		bytes += of(text);
	}
	return bytes;
}

uint64_t pm_nodemask_total_bytes(const struct pm_nodemask *nodes)
{
	return sum(nodes, total_in);
}

uint64_t pm_nodemask_available_bytes(const struct pm_nodemask *nodes)
{
	return sum(nodes, available_in);
}

/* The kernel reads maxnode - 1 bits: mm/mempolicy.c, get_nodes(). */
static int bind(const struct pm_nodemask *nodes, void *start, size_t bytes, unsigned flags)
{
	const unsigned long bits = PM_NUMA_NODES_MAX + 1UL;

	return syscall(SYS_mbind, start, bytes, MPOL_BIND, nodes->bits, bits, flags) ? -errno : 0;
}

int pm_nodemask_bind(const struct pm_nodemask *nodes, void *start, size_t bytes)
{
	return bind(nodes, start, bytes, 0);
}

int pm_nodemask_migrate(const struct pm_nodemask *nodes, void *start, size_t bytes)
{
	return bind(nodes, start, bytes, MPOL_MF_MOVE);
}

/* Without nodes to move to, move_pages() writes each page's node, or -errno if it has no page. */
void pm_nodemask_elsewhere(const struct pm_nodemask *nodes, char *start, size_t n, bool *ret)
{
	void *addresses[PM_NODEMASK_PAGES];
	int status[PM_NODEMASK_PAGES];

	for (size_t i = 0; i < n; i++) {
		addresses[i] = start + i * PAGE_BYTES;
		status[i] = -ENOENT;
	}
	(void)syscall(SYS_move_pages, 0, (unsigned long)n, addresses, NULL, status, 0);
	for (size_t i = 0; i < n; i++)
		ret[i] = status[i] >= 0 && !pm_nodemask_isset(nodes, (unsigned)status[i]);
}
