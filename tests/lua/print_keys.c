/* SPDX-License-Identifier: Apache-2.0 */
/* The library's keys, a line each: those that may differ by partition with their default, then the
 * others. pmem_conf.lua must know the same. */
#include <stdio.h>

#include "site/config.h"

int main(void)
{
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++)
		if (pm_key_info(key)->by_job)
			printf("%s=%s\n", pm_key_info(key)->name, pm_key_info(key)->value);
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++)
		if (!pm_key_info(key)->by_job)
			printf("%s\n", pm_key_info(key)->name);
	return 0;
}
