/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODEL_H
#define PM_MODEL_H

/*
 * The performance model of paper 000 ("WarpX-PM", section IV-B, equations 1 to 7): how many helper
 * threads copy the batches of a phase while the program computes. Where the paper leaves something
 * open:
 *
 * - The number of helpers is the total over both directions. Two helpers copy one direction each;
 *   if a phase copies in one direction only, both copy that. One helper copies in and then out, so
 *   its time is the sum where equation 2 has the maximum.
 * - The literal model has the helpers' full bandwidth in equation 4. With many ranks on a socket it
 *   may then never prefetch. The paced model assumes that helpers spread their copies over the
 *   interval: it has the interval's bytes divided by T_comp in equation 4, and while both
 * directions are copied at once, the bandwidths that were measured in that state.
 * - Traffic of the program that is unknown violates equation 4.
 * - Without a feasible number there are no helpers: the program uses its data in place. That is
 *   the paper's rule, though copies that take longer than the program computes may cost less than
 *   data in place. The compared model has the interval in place measured, too, predicts the
 *   interval for each number of helpers, and takes the shortest. Copies of streams that are open at
 *   the same time are part of it; unknown traffic of the program is none. Without that measurement
 *   it is the paced model.
 */
#include <stdbool.h>

#include "model/curve.h"

/* "We do not consider other cases" than Thrd_max - 2 to Thrd_max threads for the program. */
#define PM_MODEL_HELPERS_MAX 2

/* Of a socket, measured. Bytes per second. */
struct pm_model_socket {
	struct pm_curve in, out;	   /* PMem to DRAM, DRAM to PMem: alone */
	struct pm_curve both_in, both_out; /* at once; threads: of both. Without points: as alone */
	double peak_in, peak_out;	   /* BW_max of each direction, equation 5 */
};

/* Of an interval of a phase, measured by the rank while its batch was in DRAM and no helper ran. */
struct pm_model_interval {
	double in_bytes, out_bytes; /* data_in, data_out; out 0: batches are only read */
	double compute_s;	    /* T_comp, above 0 */
	double placed_s;	    /* the interval with its batch in place; 0: not measured */
	double other_in_bytes, other_out_bytes; /* of other streams in that time, by helpers */
	double compute_bytes_per_s; /* BW_comp: to PMem alone, without the batch; below 0: unknown
				     */
	unsigned ranks;		    /* N: on the socket, at least 1 */
	unsigned threads, max_threads; /* Thrd_comp as launched; Thrd_max: with helper CPUs */
};

enum pm_model_kind { PM_MODEL_LITERAL, PM_MODEL_PACED, PM_MODEL_COMPARED };

/* The first constraint that a number of helpers violates, in the paper's order of filtering. */
enum pm_model_limit {
	PM_MODEL_FITS,
	PM_MODEL_UNMEASURED, /* a curve or a peak has no points, or the interval copies nothing */
	PM_MODEL_THREADS,    /* equation 6 */
	PM_MODEL_TRAFFIC,    /* BW_comp is unknown */
	PM_MODEL_BANDWIDTH,  /* equation 4 */
	PM_MODEL_OVERLAP,    /* equation 3 */
	PM_MODEL_IN_PLACE,   /* compared: no faster than in place */
};

/* The equations' numbers for one number of helpers. */
struct pm_model_trial {
	unsigned helpers;
	double in_s, out_s;	  /* equation 1 */
	double copy_s;		  /* T_cp */
	double printed_copy_s;	  /* equation 2 as printed: each direction with all helpers */
	double copy_bytes_per_s;  /* of the helpers in equation 4 */
	double total_bytes_per_s; /* the left side of equation 4 */
	double interval_s;	  /* compared: as predicted; else 0 */
	enum pm_model_limit limit;
};

struct pm_model_answer {
	unsigned helpers; /* the smallest number that fits, compared: the fastest; 0: in place */
	double share_bytes_per_s; /* BW_max / N, the right side of equation 4 */
	struct pm_model_trial trials[PM_MODEL_HELPERS_MAX]; /* for 1, 2, ... helpers */
};

struct pm_model_answer pm_model_choose(enum pm_model_kind kind,
	const struct pm_model_socket *socket, const struct pm_model_interval *interval);

/*
 * BW_comp of a program with so many threads that accesses at most `bytes` of PMem in `seconds`,
 * from above: it does not access them faster than as many threads copy. Without curves that is no
 * bound.
 */
double pm_model_traffic(
	const struct pm_model_socket *socket, unsigned threads, double bytes, double seconds);

/*
 * Bytes per second that equation 4 leaves for other copies of a rank: BW_max/N - BW_comp, at least
 * 0. 0 also if a peak or the traffic is unknown.
 */
double pm_model_spare(
	const struct pm_model_socket *socket, unsigned ranks, double compute_bytes_per_s);

/* "equation 4: copies and program need more bandwidth than the rank's share"; "" for FITS. */
const char *pm_model_limit_text(enum pm_model_limit limit);

#endif
