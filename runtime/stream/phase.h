/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PHASE_H
#define PM_RUNTIME_PHASE_H

/*
 * The number of helpers of each phase: a place in the program that opens streams, with batches of
 * one size. The first passes run in place, until the spaces have their sizes. Then one interval is
 * measured: its batch is in DRAM and no helper runs. The performance model (model/model.h) answers
 * with the parameters in PM_MODEL. After PM_PHASE_PASSES passes an interval is measured again; the
 * number changes when two measurements in a row ask for the same other one.
 *
 * BW_comp, the program's own traffic to the slow tier, is taken from above: all bytes that are in
 * PMem beside the ranges of open streams are accessed once in an interval, though no faster than
 * the program's threads would copy them.
 *
 * PM_STREAMS=literal takes the literal model in place of the paced one; 0, 1 or 2 is a number of
 * helpers for all phases, without a model.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/words.h"

#define PM_PHASES_MAX	64
#define PM_PHASE_PASSES 256 /* from one measurement to the next */

enum pm_phase_state {
	PM_PHASE_IN_PLACE,  /* helpers are not used in this pass */
	PM_PHASE_MEASURING, /* the first interval of this pass is measured */
	PM_PHASE_CHOSEN,    /* the number of helpers is known */
};

/* Why a pass runs in place. */
enum pm_in_place {
	PM_IN_PLACE_NOT,
	PM_IN_PLACE_FIRST,    /* an iteration before the measurement */
	PM_IN_PLACE_MODEL,    /* the model says so, or PM_STREAMS=0 */
	PM_IN_PLACE_NO_MODEL, /* no PM_MODEL */
	PM_IN_PLACE_NO_CPU,   /* no CPU for helpers */
	PM_IN_PLACE_DRAM,     /* the range is in DRAM */
	PM_IN_PLACE_NO_ROOM,  /* the batches do not fit into the migration space */
	PM_IN_PLACE_TOO_MANY, /* streams or phases at once */
	PM_IN_PLACES,
};

struct pm_phase {
	const void *caller; /* NULL: the entry is unused */
	size_t batch_bytes;
	bool is_written;

	enum pm_phase_state state;
	unsigned helpers, asked;	       /* in use; what the last measurement asked for */
	uint32_t passes;		       /* since the last measurement */
	double compute_s, compute_bytes_per_s; /* of that: T_comp, BW_comp */
};

/* Reads PM_STREAMS and PM_MODEL. The calling thread is the only one. */
void pm_phases_prepare(void);

/* The model's parameters; NULL without PM_MODEL. */
const struct pm_model_words *pm_phases_model(void);

/* One walk of a phase, by one thread. */
struct pm_pass {
	struct pm_phase *phase;
	bool is_measuring; /* its first interval */
	unsigned helpers;  /* 0 while it is measuring */
	uint64_t pace_ns;  /* helpers spread the copies of an interval over it; 0: they do not */
};

/*
 * Begins a pass of the phase of this place. If it runs in place, *ret is untouched. `is_settled`:
 * the spaces have their sizes, and no helper runs.
 */
enum pm_in_place pm_phase_begin(const void *caller, size_t batch_bytes, bool is_written,
	bool is_settled, struct pm_pass *ret);

/* Bytes of PMem in an interval, beside the batch. */
struct pm_slow_traffic {
	uint64_t idle_bytes;   /* beside the ranges of open streams: the program may access them */
	uint64_t copied_bytes; /* of other streams, by helpers */
};

/* The interval took that long, with at most that traffic: chooses the phase's helpers. */
void pm_phase_measured(
	struct pm_pass *pass, uint64_t compute_ns, const struct pm_slow_traffic *traffic);

/* For pthread_atfork(3). */
void pm_phases_before_fork(void);
void pm_phases_after_fork(void);

/* For the report: the entry, NULL behind the last. */
const struct pm_phase *pm_phase_at(unsigned i);

/* "no PM_MODEL" and the like; "" for NOT. */
const char *pm_in_place_text(enum pm_in_place why);

#endif
