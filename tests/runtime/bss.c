/* SPDX-License-Identifier: Apache-2.0 */
/* Has 64 MiB of static data, as Fortran's COMMON is, writes to each page, and shows numa_maps. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES ((size_t)64 << 20)
#define PAGE  4096

static char common[BYTES];

int main(void)
{
	for (size_t at = 0; at < BYTES; at += PAGE)
		*(volatile char *)&common[at] = 1;
	return system("cat /proc/$PPID/numa_maps");
}
