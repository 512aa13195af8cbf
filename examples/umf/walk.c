/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of UMF in each tier: a table that is used all the time, and the records that it points to.
 * Prints the sum over all records, and where both are.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <umf/memory_pool.h>
#include <umf/pools/pool_disjoint.h>

#include "pm_provider.h"

#define RECORDS 1000
#define BYTES	40000 /* of a record */

/* What a pool asks its provider for: one page more is little of it. */
#define SLAB_BYTES ((size_t)2 << 20)

struct tier {
	umf_memory_provider_handle_t provider;
	umf_memory_pool_handle_t pool;
};

static int make(enum pm_tier which, struct tier *tier)
{
	umf_disjoint_pool_params_handle_t params = NULL;
	int failed = pm_provider_create(which, &tier->provider) ||
		     umfDisjointPoolParamsCreate(&params) ||
		     umfDisjointPoolParamsSetSlabMinSize(params, SLAB_BYTES) ||
		     umfPoolCreate(umfDisjointPoolOps(), tier->provider, params, 0, &tier->pool);

	if (params)
		umfDisjointPoolParamsDestroy(params);
	return failed;
}

static void end(struct tier *tier)
{
	if (tier->pool)
		umfPoolDestroy(tier->pool);
	if (tier->provider)
		umfMemoryProviderDestroy(tier->provider);
}

/* The NUMA node of a page, move_pages(2); negative: none. */
static int node_of(const void *at)
{
	int node = -1;

	return syscall(SYS_move_pages, 0, 1UL, &at, NULL, &node, 0) ? -1 : node;
}

static int run(const struct tier *fast, const struct tier *slow)
{
	unsigned char **table = umfPoolMalloc(fast->pool, RECORDS * sizeof(*table));
	uint64_t sum = 0;

	if (!table)
		return 1;
	for (size_t i = 0; i < RECORDS; i++) {
		table[i] = umfPoolMalloc(slow->pool, BYTES);
		if (!table[i])
			return 1;
		memset(table[i], (int)(i % 251), BYTES);
	}
	for (size_t i = 0; i < RECORDS; i++)
		sum += table[i][i];
	printf("sum %llu, table on node %d, records on node %d\n", (unsigned long long)sum,
		node_of(table), node_of(table[RECORDS / 2]));
	for (size_t i = 0; i < RECORDS; i++)
		umfPoolFree(slow->pool, table[i]);
	return umfPoolFree(fast->pool, table) != UMF_RESULT_SUCCESS;
}

int main(void)
{
	struct tier fast = {0}, slow = {0};
	int failed = make(PM_FAST, &fast) || make(PM_SLOW, &slow) || run(&fast, &slow);

	end(&slow);
	end(&fast);
	if (failed)
		fprintf(stderr, "walk: out of memory, or libumf is of another version\n");
	return failed;
}
