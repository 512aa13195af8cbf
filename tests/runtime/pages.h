/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TESTS_PAGES_H
#define PM_TESTS_PAGES_H

/* Where the kernel has the pages of an object, move_pages(2). */
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE  4096
#define NODES 8

/* " 0:12 2:500": nodes and how many pages are there. */
static void print_nodes(char *object, size_t bytes)
{
	unsigned counts[NODES] = {0};

	for (size_t i = 0; i < bytes; i += PAGE) {
		void *page = object + i;
		int node = -1;

		syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0);
		if (node >= 0 && node < NODES)
			counts[node]++;
	}
	for (int node = 0; node < NODES; node++)
		if (counts[node])
			printf(" %d:%u", node, counts[node]);
	puts("");
}

#endif
