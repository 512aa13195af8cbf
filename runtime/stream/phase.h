/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PHASE_H
#define PM_RUNTIME_PHASE_H

/*
 * The number of helpers of each phase: a place in the program that opens streams, with batches of
 * one size. The first passes run in place, until the spaces have their sizes. Then intervals are
 * measured while no helper runs: by turns in place and with their batches in DRAM (the medians of
 * PM_INTERVAL_SAMPLES count); of a single batch the latter alone, and one alone for the other
 * models. The performance model (model/model.h) answers with the parameters in PM_MODEL. After
 * PM_PHASE_PASSES passes they are measured again; the number changes when two measurements in a row
 * ask for the same other one. Two passes in a row of which most intervals were slower with helpers
 * than in place end it earlier: the phase runs in place.
 *
 * BW_comp, the program's own traffic to the slow tier, is taken from above: all bytes that are in
 * PMem beside the ranges of open streams are accessed once in an interval, though no faster than
 * the program's threads would copy them. The compared model does without: it has the interval in
 * place to compare with.
 *
 * PM_STREAMS=paced or literal takes these models in place of the compared one; 0, 1 or 2 is a
 * number of helpers for all phases, without a model.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/words.h"

#define PM_PHASES_MAX	64
#define PM_PHASE_PASSES 256 /* from one measurement to the next */

enum pm_phase_state {
	PM_PHASE_IN_PLACE,  /* helpers are not used in this pass */
	PM_PHASE_MEASURING, /* the first intervals of this pass are measured */
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
	double placed_s;		       /* of an interval in place; 0: not measured */
	unsigned slower;		       /* passes in a row, than in place */
};

/* Reads PM_STREAMS and PM_MODEL. The calling thread is the only one. */
void pm_phases_prepare(void);

/* The model's parameters; NULL without PM_MODEL. */
const struct pm_model_words *pm_phases_model(void);

/* One walk of a phase, by one thread. */
struct pm_pass {
	struct pm_phase *phase;
	bool is_measuring;  /* its first intervals */
	bool is_compared;   /* and some in place */
	unsigned helpers;   /* 0 while it is measuring */
	uint64_t placed_ns; /* an interval with helpers that takes longer is slower than in place;
			       or 0 */
	uint64_t pace_ns;   /* helpers spread the copies of an interval over it; 0: they do not */
};

/*
 * Begins a pass of the phase of this place. If it runs in place, *ret is untouched. `is_settled`:
 * the spaces have their sizes, and no helper runs.
 */
enum pm_in_place pm_phase_begin(const void *caller, size_t batch_bytes, bool is_written,
	bool is_settled, struct pm_pass *ret);

/* What was measured of a phase while no helper ran. */
struct pm_phase_interval {
	uint64_t compute_ns; /* of an interval with its batch in DRAM */
	uint64_t placed_ns;  /* of an interval in place; 0: not measured */
	uint64_t idle_bytes; /* of PMem beside the ranges of open streams: the program may access
				them */
	uint64_t other_in_bytes, other_out_bytes; /* of other streams, by helpers */
};

/* Chooses the phase's helpers. */
void pm_phase_measured(struct pm_pass *pass, const struct pm_phase_interval *interval);

/* A pass with helpers had so many intervals; so many were slower than in place. */
void pm_phase_walked(const struct pm_pass *pass, uint64_t intervals, uint64_t slower);

/* For pthread_atfork(3). */
void pm_phases_before_fork(void);
void pm_phases_after_fork(void);

/* For the report: the entry, NULL behind the last. */
const struct pm_phase *pm_phase_at(unsigned i);

/* "no PM_MODEL" and the like; "" for NOT. */
const char *pm_in_place_text(enum pm_in_place why);

#endif
