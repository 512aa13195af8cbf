/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_STREAM_H
#define PM_RUNTIME_STREAM_H

/*
 * Streams, pmplace(3): while the program computes on batch i of a range in PMem, helpers copy batch
 * i + 1 into the migration space, and batch i - 1 back if it was written. A range that is read and
 * written takes three batches of that space, one that is read two.
 *
 *	buffer of batch i: i modulo the number of buffers
 *	next() hands back i:  wait for out(i - 1); post out(i); wait for in(i + 1); post in(i + 2)
 *
 * A pass that cannot be served so runs in place: the functions of pmplace.h then walk the range
 * themselves.
 */
#include "runtime/pmplace.h"
#include "runtime/stream/phase.h"

#define PM_STREAMS_MAX 64 /* open at once */

struct pm_stream_counts {
	uint64_t passes;		 /* that helpers or a measurement served */
	uint64_t in_place[PM_IN_PLACES]; /* passes, by cause */
	uint64_t batches;		 /* copied in */
	uint64_t in_bytes, out_bytes;
	uint64_t clean_batches; /* of written ranges: handed back clean, not copied back */
	uint64_t waited_ns;	/* of the program, for copies */
};

/* Keeps the migration space for streams if the program opens any: before the first allocation. */
void pm_streams_reserve_space(void);

/*
 * Reads the variables. The calling thread is the only one. To be called when jemalloc has
 * registered its handlers of pthread_atfork(3): ours take their locks before, since a helper's
 * start allocates.
 */
void pm_streams_prepare(void);

void pm_streams_count(struct pm_stream_counts *ret);

#endif
