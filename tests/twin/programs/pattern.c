/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills persistent or main memory with a pattern, or looks for it: what one user leaves and what
 * the next one can see. Static, so that it runs in any guest.
 *
 *	pattern fill TARGET BYTES	every 64 bytes of TARGET begin with the pattern
 *	pattern look TARGET BYTES	prints how many of them do; exit status 1 when any does
 *	pattern blank TARGET BYTES	prints how many bytes are not zero; exit status 1 when any
 *is pattern take TARGET BYTES	`blank`, then `fill`
 *
 * TARGET is a file, which `fill` maps with MAP_SYNC, a /dev/dax, or "anon" for new memory. BYTES 0
 * is all of it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LINE  64
#define MAGIC 0x53656372657421a7ULL /* in no other file of the tests */

struct target {
	const char *name;
	size_t size;
	int fd;
	int flags; /* of mmap */
};

static size_t dax_size(const struct stat *st)
{
	char path[64];
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/size", major(st->st_rdev),
		minor(st->st_rdev));
	file = fopen(path, "r");
	if (!file || fscanf(file, "%zu", &size) != 1)
		err(2, "%s", path);
	fclose(file);
	return size;
}

static size_t own_size(const struct target *target)
{
	struct stat st;

	if (fstat(target->fd, &st))
		err(2, "%s", target->name);
	return S_ISCHR(st.st_mode) ? dax_size(&st) : (size_t)st.st_size;
}

static void open_target(struct target *target, int fills)
{
	int is_dax = !strncmp(target->name, "/dev/", 5);

	if (!strcmp(target->name, "anon")) {
		target->fd = -1;
		/* Populated for writing, else reading would show the kernel's one page of zeros. */
		target->flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
		return;
	}
	target->fd = open(target->name, fills ? O_RDWR | (is_dax ? 0 : O_CREAT) : O_RDONLY, 0600);
	if (target->fd < 0)
		err(2, "%s", target->name);
	target->flags = MAP_SHARED;
	if (fills && !is_dax) {
		target->flags = MAP_SHARED_VALIDATE | MAP_SYNC;
		if (ftruncate(target->fd, (off_t)target->size))
			err(2, "%s", target->name);
	}
	if (!target->size)
		target->size = own_size(target);
}

static void *map(const struct target *target, int fills)
{
	int protection = PROT_READ | (fills || target->fd < 0 ? PROT_WRITE : 0);
	void *memory;

	if (!target->size)
		errx(2, "%s: nothing in it", target->name);
	memory = mmap(NULL, target->size, protection, target->flags, target->fd, 0);
	if (memory == MAP_FAILED)
		err(2, "map %s", target->name);
	return memory;
}

static void fill(uint64_t *memory, size_t size)
{
	for (size_t i = 0; i < size / 8; i++)
		memory[i] = i % (LINE / 8) ? i : MAGIC;
}

static size_t look(const uint64_t *memory, size_t size)
{
	size_t found = 0;

	for (size_t i = 0; i < size / 8; i += LINE / 8)
		found += memory[i] == MAGIC;
	return found;
}

static size_t not_blank(const uint64_t *memory, size_t size)
{
	size_t found = 0;

	for (size_t i = 0; i < size / 8; i++)
		found += memory[i] != 0;
	return found * 8;
}

int main(int argc, char **argv)
{
	struct target target;
	int takes = argc == 4 && !strcmp(argv[1], "take");
	int fills = argc == 4 && (takes || !strcmp(argv[1], "fill"));
	size_t found = 0;
	void *memory;

	if (argc != 4)
		errx(2, "usage: pattern fill|look|blank|take TARGET BYTES");
	target = (struct target){.name = argv[2], .size = strtoull(argv[3], NULL, 0)};
	open_target(&target, fills);
	memory = map(&target, fills);
	if (!strcmp(argv[1], "look"))
		found = look(memory, target.size);
	else if (!fills || takes)
		found = not_blank(memory, target.size);
	if (fills)
		fill(memory, target.size);
	printf("%s %s: %zu of %zu bytes\n", argv[1], target.name, found, target.size);
	return found ? 1 : 0;
}
