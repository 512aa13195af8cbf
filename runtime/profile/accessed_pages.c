/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/accessed_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE 128 /* longer ones name files; their beginning is enough */

static struct {
	int clear, smaps;
	uintptr_t start, end; /* of the mapping that is being read */
	char line[LINE];
	size_t length;
} pages = {.clear = -1, .smaps = -1};

int pm_accessed_pages_open(void)
{
	pages.clear = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	if (pages.clear < 0)
		return -errno;
	pages.smaps = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	return pages.smaps < 0 ? -errno : 0;
}

bool pm_accessed_pages_clear(void)
{
	return pwrite(pages.clear, "1", 1, 0) == 1;
}

/* "7f3a00000000-7f3a00200000 rw-p ...", or one of the lines of this mapping: "Referenced: 4 kB" */
static void take_line(const char *line, pm_accessed_fn *fn)
{
	char *behind;
	uintptr_t start;
	uint64_t kib;

	if (!strncmp(line, "Referenced:", 11)) {
		kib = strtoull(line + 11, NULL, 10);
		if (kib)
			fn(pages.start, pages.end, kib << 10);
		return;
	}
	start = strtoull(line, &behind, 16);
	if (*behind != '-')
		return;
	pages.start = start;
	pages.end = strtoull(behind + 1, NULL, 16);
}

static void take(const char *text, size_t n, pm_accessed_fn *fn)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\n') {
			if (pages.length < LINE - 1)
				pages.line[pages.length++] = text[i];
			continue;
		}
		pages.line[pages.length] = '\0';
		take_line(pages.line, fn);
		pages.length = 0;
	}
}

bool pm_accessed_pages_read(pm_accessed_fn *fn)
{
	static char text[1 << 16];
	ssize_t n;

	pages.length = 0;
	if (lseek(pages.smaps, 0, SEEK_SET))
		return false;
	while ((n = read(pages.smaps, text, sizeof(text))) > 0)
		take(text, (size_t)n, fn);
	return !n;
}
