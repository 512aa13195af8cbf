/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RATE_H
#define PM_RATE_H

/* How often each peer may ask: so many at once, and so many a second after that. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_RATE_BURST	   20
#define PM_RATE_PER_SECOND 5
#define PM_RATE_PEERS	   1024

struct pm_rate {
	struct {
		uint64_t key;	/* a user or an address, see pm_rate_key_*() */
		uint64_t at_ms; /* when it asked last; 0: unused */
		double left;
	} peers[PM_RATE_PEERS];
};

static inline uint64_t pm_rate_user(uint32_t uid)
{
	return uid;
}

static inline uint64_t pm_rate_address(uint32_t address)
{
	return 1ull << 32 | address;
}

/* May it ask now? The peer that has been quiet longest is forgotten for a new one. */
bool pm_rate_allows(struct pm_rate *rate, uint64_t key, uint64_t now_ms);

#endif
