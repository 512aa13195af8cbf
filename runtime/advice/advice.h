/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ADVICE_H
#define PM_RUNTIME_ADVICE_H

/*
 * Advice from the profile of an earlier run: PM_ADVICE names a file that pmreport(1) has written.
 *
 *	pmadvice 2
 *	program 8f0e5d4c3b2a1908 lmp
 *	data 100663296
 *	budgets 16777216 33554432
 *	rest 0 2097152
 *	site 0123456789abcdef 8388608 12582912  # text for people
 *	site fedcba9876543210 0 4194304
 *	small 76543210fedcba98 1032547698badcfe 0 2097152
 *
 * A `program` line has the program's build (runtime/profile/profile_format.h); the lines behind it
 * are for this program. `budgets` are bytes of DRAM of a rank, in ascending order; each line below
 * has a column for each. A `site` line has the key of a call site and the bytes of DRAM that its
 * live objects of PM_LARGE bytes and more get, together. The key is of the three innermost frames
 * or, where several sites have these in common, of as many more as tell them apart, up to
 * PM_SITE_FRAMES. `rest` are the bytes that no site uses at any time: for objects of unknown sites,
 * and for those that their own site's bytes do not suffice for. A `small` line is for a site's
 * objects below PM_LARGE, and of three frames: with 0 bytes they go to PMem. Its second key is the
 * key of the innermost frame alone: with it, one table lookup by return address rules out most
 * small objects of other sites. `data` is what the objects of that run held at most. Text behind #
 * and the program's name are for people.
 *
 * For a budget between two columns, bytes are interpolated; below the first one, between it and
 * none; from the last one on all sites have room.
 *
 * The tables are filled before the first placed allocation and then read without a lock.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Advice for this program is loaded; a part of it is for small objects. */
extern bool pm_advice_on, pm_advice_on_small;

/* True: PM_ADVICE names a file. */
bool pm_advice_is_named(void);

/*
 * Reads the file that PM_ADVICE names, for a budget of DRAM. `verbose`: logs why the file cannot be
 * used. The other processes that a rank starts stay silent: they mostly run other programs, for
 * which the file has no lines.
 */
void pm_advice_start(uint64_t budget_bytes, bool verbose);

/* DRAM that an object has: of its site's bytes, and of the rest. */
struct pm_advised_bytes {
	uint32_t site; /* 0: unknown; else an index */
	size_t own, rest;
};

/*
 * Takes DRAM for an object of the call site that the stack of the calling thread shows: at most
 * `bytes` together. The caller gives back the bytes that the object does not use, and the others
 * when the object is freed.
 */
struct pm_advised_bytes pm_advice_take(size_t bytes);
void pm_advice_give(const struct pm_advised_bytes *bytes);

/* Takes bytes that the site, or the rest, may not have left: it then has as much less later. */
void pm_advice_overdraw(struct pm_advised_bytes *taken, size_t bytes);

/*
 * True: a small object of this call site is to be in PMem. `caller` is the return address of the
 * allocation function.
 */
bool pm_advice_is_cold(const void *caller);

/* `data` of the file. */
uint64_t pm_advice_data_bytes(void);

#endif
