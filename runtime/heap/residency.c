/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/residency.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/heap/heap.h"

#define KIB 1024

const char *const pm_part_names[PM_PARTS] = {"dram", "pmem", "other"};

/* A line as it is read: "7f3a00000000 bind:0 anon=512 ... N0=512 kernelpagesize_kB=4". */
struct line {
	enum pm_part part;
	bool is_begun;
	uint64_t pages[PM_NUMA_NODES_MAX];
	char word[64]; /* longer ones are file names, and cut */
	size_t length;
};

static enum pm_part part_of(uint64_t address)
{
	if (!pm_heap_owns((void *)address))
		return PM_PART_OTHER;
	return address - pm_heap.base < pm_heap.settings.budget_bytes ? PM_PART_DRAM : PM_PART_PMEM;
}

static void count_pages(struct pm_residency *residency, struct line *line, uint64_t page_bytes)
{
	for (unsigned node = 0; node < PM_NUMA_NODES_MAX; node++)
		residency->bytes[line->part][node] += line->pages[node] * page_bytes;
}

static void read_word(struct pm_residency *residency, struct line *line)
{
	const char *word = line->word;
	char *end;
	unsigned long node;

	if (!line->is_begun) {
		memset(line->pages, 0, sizeof(line->pages));
		line->part = part_of(strtoull(word, NULL, 16));
		line->is_begun = true;
	} else if (*word == 'N') {
		node = strtoul(word + 1, &end, 10);
		if (*end == '=' && node < PM_NUMA_NODES_MAX)
			line->pages[node] = strtoull(end + 1, NULL, 10);
	} else if (!strncmp(word, "kernelpagesize_kB=", 18)) {
		count_pages(residency, line, strtoull(word + 18, NULL, 10) * KIB);
	}
}

static void read_character(struct pm_residency *residency, struct line *line, char c)
{
	if (c != ' ' && c != '\n') {
		if (line->length < sizeof(line->word) - 1)
			line->word[line->length++] = c;
		return;
	}
	line->word[line->length] = '\0';
	if (line->length)
		read_word(residency, line);
	line->length = 0;
	if (c == '\n')
		line->is_begun = false;
}

bool pm_residency_read(struct pm_residency *residency)
{
	static struct line line; /* too large for the stack of a thread that calls exit() */
	char text[4096];
	int fd = open("/proc/self/numa_maps", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++)
			read_character(residency, &line, text[i]);
	close(fd);
	return !n;
}
