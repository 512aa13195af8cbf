/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/numa_maps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/heap/heap.h"

#define KIB 1024

const char *const pm_mapping_names[PM_MAPPINGS] = {"dram", "pmem", "other"};

/*
 * State of the parser within a line "7f3a00000000 bind:0 anon=512 ... N0=512 kernelpagesize_kB=4".
 * The page size comes last, so that the counts are kept until then. The file is parsed byte by byte
 * because nothing may be allocated and a line may be longer than any buffer.
 */
struct line {
	enum pm_mapping mapping;
	bool has_address;
	uint64_t pages[PM_NUMA_NODES_MAX];
	char word[64]; /* longer ones are file names, and cut */
	size_t length;
};

static enum pm_mapping mapping_of(uint64_t address)
{
	if (!pm_heap_owns((void *)address))
		return PM_MAPPING_OTHER;
	return address - pm_heap.base < pm_heap.settings.budget_bytes ? PM_MAPPING_DRAM
								      : PM_MAPPING_PMEM;
}

static void count_pages(struct pm_numa_maps *numa_maps, struct line *line, uint64_t page_bytes)
{
	for (unsigned node = 0; node < PM_NUMA_NODES_MAX; node++)
		numa_maps->bytes[line->mapping][node] += line->pages[node] * page_bytes;
}

static void parse_word(struct pm_numa_maps *numa_maps, struct line *line)
{
	const char *word = line->word;
	char *end;
	unsigned long node;

	if (!line->has_address) {
		memset(line->pages, 0, sizeof(line->pages));
		line->mapping = mapping_of(strtoull(word, NULL, 16));
		line->has_address = true;
	} else if (*word == 'N') {
		node = strtoul(word + 1, &end, 10);
		if (*end == '=' && node < PM_NUMA_NODES_MAX)
			line->pages[node] = strtoull(end + 1, NULL, 10);
	} else if (!strncmp(word, "kernelpagesize_kB=", 18)) {
		count_pages(numa_maps, line, strtoull(word + 18, NULL, 10) * KIB);
	}
}

static void parse_character(struct pm_numa_maps *numa_maps, struct line *line, char c)
{
	if (c != ' ' && c != '\n') {
		if (line->length < sizeof(line->word) - 1)
			line->word[line->length++] = c;
		return;
	}
	line->word[line->length] = '\0';
	if (line->length)
		parse_word(numa_maps, line);
	line->length = 0;
	if (c == '\n')
		line->has_address = false;
}

bool pm_numa_maps_read(struct pm_numa_maps *numa_maps)
{
	static struct line line; /* too large for the stack of a thread that calls exit() */
	char text[4096];
	int fd = open("/proc/self/numa_maps", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++)
			parse_character(numa_maps, &line, text[i]);
	close(fd);
	return !n;
}
