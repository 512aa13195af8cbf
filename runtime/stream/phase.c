/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/stream/phase.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/log.h"
#include "runtime/stream/helpers.h"

/* Helpers have ended by then: the copies are to be there before the program asks for them. */
#define PACE_SHARE 0.8
/* In a row, until the phase runs in place. */
#define SLOWER_PASSES 2
/* Of an interval in place: what takes longer is slower, and does not only vary. */
#define SLOWER 1.05

static struct {
	pthread_mutex_t lock;
	struct pm_phase list[PM_PHASES_MAX];
	struct pm_model_words words;
	bool has_model;
	bool is_fixed; /* PM_STREAMS is a number of helpers */
	unsigned fixed;
	enum pm_model_kind kind;
	unsigned threads; /* of the program */
} phases = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- settings --- */

static void read_choice(void)
{
	const char *text = getenv("PM_STREAMS");

	phases.kind = PM_MODEL_COMPARED;
	if (!text || !*text || !strcmp(text, "compared"))
		return;
	if (!strcmp(text, "paced")) {
		phases.kind = PM_MODEL_PACED;
	} else if (!strcmp(text, "literal")) {
		phases.kind = PM_MODEL_LITERAL;
	} else if (*text >= '0' && *text <= '0' + PM_HELPERS_MAX && !text[1]) {
		phases.is_fixed = true;
		phases.fixed = (unsigned)(*text - '0');
	} else {
		pm_log("PM_STREAMS='%.100s' is none of compared, paced, literal, 0, 1 and 2: it is "
		       "compared",
			text);
	}
}

static void read_model(void)
{
	const char *text = getenv(PM_MODEL_VARIABLE);

	if (!text || !*text)
		return;
	phases.has_model = !pm_model_parse(text, &phases.words);
	if (!phases.has_model)
		pm_log("PM_MODEL='%.100s' is not of this version: streams run in place", text);
}

/* Thrd_comp: OMP_NUM_THREADS, else the processors of the rank. */
static void count_threads(void)
{
	const char *text = getenv("OMP_NUM_THREADS");
	long threads = text ? strtol(text, NULL, 10) : 0;
	cpu_set_t cpus;

	if (threads <= 0 && !sched_getaffinity(0, sizeof(cpus), &cpus))
		threads = CPU_COUNT(&cpus);
	phases.threads = threads > 0 ? (unsigned)threads : 1;
}

void pm_phases_prepare(void)
{
	read_choice();
	read_model();
	count_threads();
}

const struct pm_model_words *pm_phases_model(void)
{
	return phases.has_model ? &phases.words : NULL;
}

/* --- the model --- */

static bool is_compared(const struct pm_phase *phase)
{
	return phases.kind == PM_MODEL_COMPARED && phase->placed_s > 0;
}

static unsigned ask_model(const struct pm_phase *phase, const struct pm_phase_interval *measured)
{
	const struct pm_model_interval interval = {
		.in_bytes = (double)phase->batch_bytes,
		.out_bytes = phase->is_written ? (double)phase->batch_bytes : 0,
		.compute_s = phase->compute_s,
		.placed_s = phase->placed_s,
		.other_in_bytes = (double)measured->other_in_bytes,
		.other_out_bytes = (double)measured->other_out_bytes,
		.compute_bytes_per_s = is_compared(phase) ? 0 : phase->compute_bytes_per_s,
		.ranks = phases.words.ranks ? phases.words.ranks : 1,
		.threads = phases.threads,
		.max_threads = phases.threads + pm_helpers_cpus(),
	};

	return pm_model_choose(phases.kind, &phases.words.socket, &interval).helpers;
}

/* The first answer holds; another one when it comes twice. */
static void take_answer(struct pm_phase *phase, unsigned helpers, bool is_first)
{
	if (is_first || phase->asked == helpers)
		phase->helpers = helpers;
	phase->asked = helpers;
}

static uint64_t pace_ns(const struct pm_phase *phase)
{
	if (phases.is_fixed || phases.kind == PM_MODEL_LITERAL)
		return 0;
	return (uint64_t)(phase->compute_s * PACE_SHARE * 1e9);
}

static uint64_t placed_ns(const struct pm_phase *phase)
{
	if (phases.is_fixed || !is_compared(phase))
		return 0;
	return (uint64_t)(phase->placed_s * SLOWER * 1e9);
}

static struct pm_pass pass_of(struct pm_phase *phase)
{
	if (phase->state == PM_PHASE_MEASURING)
		return (struct pm_pass){.phase = phase,
			.is_measuring = true,
			.is_compared = phases.kind == PM_MODEL_COMPARED};
	return (struct pm_pass){.phase = phase,
		.helpers = phase->helpers,
		.placed_ns = placed_ns(phase),
		.pace_ns = pace_ns(phase)};
}

static double traffic_of(const struct pm_phase_interval *interval, double compute_s)
{
	double copied = (double)(interval->other_in_bytes + interval->other_out_bytes);

	return pm_model_traffic(&phases.words.socket, phases.threads, (double)interval->idle_bytes,
		       compute_s) +
	       copied / compute_s;
}

static void take_measurement(struct pm_phase *phase, const struct pm_phase_interval *interval)
{
	bool is_first = !(phase->compute_s > 0);

	phase->compute_s = interval->compute_ns ? (double)interval->compute_ns / 1e9 : 1e-9;
	phase->placed_s = (double)interval->placed_ns / 1e9;
	phase->compute_bytes_per_s = traffic_of(interval, phase->compute_s);
	take_answer(phase, ask_model(phase, interval), is_first);
	phase->passes = 0;
	phase->slower = 0;
	phase->state = PM_PHASE_CHOSEN;
}

/* Of passes that measure at once the first one counts. */
void pm_phase_measured(struct pm_pass *pass, const struct pm_phase_interval *interval)
{
	struct pm_phase *phase = pass->phase;

	pthread_mutex_lock(&phases.lock);
	if (phase->state == PM_PHASE_MEASURING)
		take_measurement(phase, interval);
	*pass = pass_of(phase);
	pthread_mutex_unlock(&phases.lock);
}

void pm_phase_walked(const struct pm_pass *pass, uint64_t intervals, uint64_t slower)
{
	struct pm_phase *phase = pass->phase;

	pthread_mutex_lock(&phases.lock);
	if (pass->helpers == phase->helpers) {
		phase->slower = slower > intervals / 2 ? phase->slower + 1 : 0;
		if (phase->slower >= SLOWER_PASSES)
			phase->helpers = phase->asked = 0;
	}
	pthread_mutex_unlock(&phases.lock);
}

/* --- phases --- */

static struct pm_phase *find(const void *caller, size_t batch_bytes, bool is_written)
{
	for (struct pm_phase *phase = phases.list; phase < phases.list + PM_PHASES_MAX; phase++) {
		if (!phase->caller)
			*phase = (struct pm_phase){.caller = caller,
				.batch_bytes = batch_bytes,
				.is_written = is_written};
		if (phase->caller == caller && phase->batch_bytes == batch_bytes &&
			phase->is_written == is_written)
			return phase;
	}
	return NULL;
}

static enum pm_in_place obstacle(void)
{
	if (!pm_helpers_can_run())
		return PM_IN_PLACE_NO_CPU;
	if (phases.is_fixed)
		return phases.fixed ? PM_IN_PLACE_NOT : PM_IN_PLACE_MODEL;
	if (!phases.has_model)
		return PM_IN_PLACE_NO_MODEL;
	return pm_helpers_cpus() ? PM_IN_PLACE_NOT : PM_IN_PLACE_NO_CPU;
}

/* Counts a pass, and decides whether it is measured. Until one has ended, each later one is. */
static enum pm_in_place advance(struct pm_phase *phase, bool is_settled)
{
	phase->passes++;
	if (phases.is_fixed) {
		phase->state = PM_PHASE_CHOSEN;
		phase->helpers = phases.fixed;
		return PM_IN_PLACE_NOT;
	}
	if (phase->state == PM_PHASE_IN_PLACE && (phase->passes < 2 || !is_settled))
		return PM_IN_PLACE_FIRST;
	if (phase->state != PM_PHASE_CHOSEN || (phase->passes > PM_PHASE_PASSES && is_settled)) {
		phase->state = PM_PHASE_MEASURING;
		return PM_IN_PLACE_NOT;
	}
	return phase->helpers ? PM_IN_PLACE_NOT : PM_IN_PLACE_MODEL;
}

static enum pm_in_place begin(struct pm_phase *phase, bool is_settled, struct pm_pass *ret)
{
	enum pm_in_place why = phase ? advance(phase, is_settled) : PM_IN_PLACE_TOO_MANY;

	if (!why)
		*ret = pass_of(phase);
	return why;
}

enum pm_in_place pm_phase_begin(const void *caller, size_t batch_bytes, bool is_written,
	bool is_settled, struct pm_pass *ret)
{
	enum pm_in_place why = obstacle();

	if (why)
		return why;
	pthread_mutex_lock(&phases.lock);
	why = begin(find(caller, batch_bytes, is_written), is_settled, ret);
	pthread_mutex_unlock(&phases.lock);
	return why;
}

void pm_phases_before_fork(void)
{
	pthread_mutex_lock(&phases.lock);
}

void pm_phases_after_fork(void)
{
	pthread_mutex_unlock(&phases.lock);
}

const struct pm_phase *pm_phase_at(unsigned i)
{
	return i < PM_PHASES_MAX && phases.list[i].caller ? &phases.list[i] : NULL;
}

const char *pm_in_place_text(enum pm_in_place why)
{
	static const char *const texts[PM_IN_PLACES] = {
		[PM_IN_PLACE_NOT] = "",
		[PM_IN_PLACE_FIRST] = "before the measurement",
		[PM_IN_PLACE_MODEL] = "the model has no helper for them",
		[PM_IN_PLACE_NO_MODEL] = "no PM_MODEL",
		[PM_IN_PLACE_NO_CPU] = "no processor for helpers",
		[PM_IN_PLACE_DRAM] = "their data is in DRAM",
		[PM_IN_PLACE_NO_ROOM] = "no room in the migration space",
		[PM_IN_PLACE_TOO_MANY] = "too many at once",
	};

	return texts[why];
}
