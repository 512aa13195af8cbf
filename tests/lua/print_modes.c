/* SPDX-License-Identifier: Apache-2.0 */
/* The library's modes, a line each: "memory pm_memory". pmem.lua must hold the same. */
#include <stdio.h>

#include "site/modes.h"

int main(void)
{
	pm_mode_foreach(row)
		printf("%s %s\n", row->name, row->feature);
	return 0;
}
