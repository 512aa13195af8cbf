/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void *pm_list_next(void *list, size_t n, size_t size)
{
	void *old, *grown;

	memcpy(&old, list, sizeof(old));
	grown = realloc(old, (n + 1) * size);
	if (!grown)
		return NULL;
	memcpy(list, &grown, sizeof(grown));
	return memset((char *)grown + n * size, 0, size);
}
