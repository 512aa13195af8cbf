/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RATE_H
#define PM_RATE_H

/*
 * Rate limit of requests, a token bucket for each peer: PM_RATE_BURST at once, and
 * PM_RATE_PER_SECOND after that.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_RATE_BURST	   20
#define PM_RATE_PER_SECOND 5
#define PM_RATE_PEERS	   1024

struct pm_rate {
	struct {
		uint64_t key;	/* of pm_rate_user() or pm_rate_address() */
		uint64_t at_ms; /* time of its last request; 0: unused */
		double left;	/* requests that it may still send at once */
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

/*
 * True if the peer may send a request now; the request is then counted. A new peer replaces the one
 * that has been quiet longest.
 */
bool pm_rate_allows(struct pm_rate *rate, uint64_t key, uint64_t now_ms);

#endif
