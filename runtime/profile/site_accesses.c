/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/profile/site_accesses.h"

#include <string.h>

#include "runtime/profile/profile_file.h"

#define SITES	  (1u << 14)
#define SITES_MAX (SITES / 4 * 3)

struct sum {
	uint64_t site, accessed, written, count; /* count: 0: empty */
	bool is_large;
};

static struct {
	struct sum table[SITES]; /* by hash */
	uint32_t n;
} sums;

static bool is_empty(const struct sum *sum)
{
	return !sum->count;
}

static struct sum *sum_of(uint64_t site, bool is_large)
{
	uint32_t at = (uint32_t)((site + is_large) % SITES);

	while (!is_empty(&sums.table[at]) &&
		(sums.table[at].site != site || sums.table[at].is_large != is_large))
		at = (at + 1) % SITES;
	return &sums.table[at];
}

bool pm_site_accesses_add(
	uint64_t site, bool is_large, uint64_t accessed_bytes, uint64_t written_bytes)
{
	struct sum *sum = sum_of(site, is_large);

	if (!accessed_bytes && !written_bytes)
		return true;
	if (is_empty(sum) && sums.n == SITES_MAX)
		return false;
	sums.n += is_empty(sum);
	*sum = (struct sum){site, sum->accessed + accessed_bytes, sum->written + written_bytes,
		sum->count + 1, is_large};
	return true;
}

void pm_site_accesses_write(const struct pm_record_accesses *fields)
{
	struct pm_record_accesses record = *fields;

	for (uint32_t i = 0; i < SITES; i++) {
		const struct sum *sum = &sums.table[i];

		if (is_empty(sum))
			continue;
		record.site = sum->site;
		record.large = sum->is_large;
		record.read_bytes = sum->accessed;
		if (fields->written_bytes != UINT64_MAX)
			record.written_bytes = sum->written;
		record.count = fields->count ? fields->count : sum->count;
		pm_profile_file_append(&record.head);
	}
	memset(&sums, 0, sizeof(sums));
}
