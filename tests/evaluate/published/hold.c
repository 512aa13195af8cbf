/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold NODE LEFT_KIB COMMAND...: runs a command while a NUMA node has no more than LEFT_KIB of free
 * memory, which it is the kernel's to give out. The rest is held, page by page.
 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	  4096
#define AT_A_TIME 64 /* pages between two looks */

extern char **environ;

/* KiB, or -1. */
static long meminfo(int node, const char *name)
{
	char path[64], line[128];
	long found = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, name))
			found = strtol(strstr(line, name) + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return found;
}

static int hold(int node, long left_kib)
{
	long total = meminfo(node, "MemTotal:");
	size_t bytes = total > 0 ? (size_t)total << 10 : 0;
	unsigned long mask = 1UL << node;
	char *memory = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (total < 0 || memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE) ||
		syscall(SYS_mbind, memory, bytes, MPOL_BIND, &mask, 64UL, 0UL))
		return -1;
	for (size_t at = 0; at + AT_A_TIME * PAGE <= bytes && meminfo(node, "MemFree:") > left_kib;)
		for (int i = 0; i < AT_A_TIME; i++, at += PAGE)
			memory[at] = 1;
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	if (argc < 4)
		return 2;
	if (hold(atoi(argv[1]), atol(argv[2]))) {
		perror("hold");
		return 1;
	}
	/* Not by fork(): it would copy the tables of all pages that are held, into what is left. */
	if (posix_spawnp(&child, argv[3], NULL, NULL, argv + 3, environ)) {
		fprintf(stderr, "hold: cannot run %s\n", argv[3]);
		return 127;
	}
	if (waitpid(child, &status, 0) != child)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
