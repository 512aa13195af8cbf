/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SITE_PROFILE_H
#define PM_SITE_PROFILE_H

/*
 * The site profile of a class of nodes: bandwidths and latencies of each socket, with their origin.
 * A JSON file; its members are the fields of these structs (pmem-profile(5)). Not to be confused
 * with a rank's profile of allocations (pmprof(5)).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/words.h"

#define PM_SITE_PROFILE_VERSION 1
#define PM_SITE_PROFILE_BYTES	(1 << 20) /* of a file, at most */

enum pm_measured_curve {
#define PM_CURVE(NAME, ...) PM_CURVE_##NAME,
#include "site/measures.def"
	PM_CURVES,
};

enum pm_measured_value {
#define PM_VALUE(NAME, ...) PM_VALUE_##NAME,
#include "site/measures.def"
	PM_VALUES,
};

enum pm_measured_loop {
#define PM_LOOP(NAME, ...) PM_LOOP_##NAME,
#include "site/measures.def"
	PM_LOOPS,
};

enum pm_measured_place {
#define PM_PLACE(NAME, ...) PM_PLACE_##NAME,
#include "site/measures.def"
	PM_PLACES,
};

/* A number and its origin. Measured: the median of `samples` runs, and the bounds of its 95 %
 * confidence interval. Printed somewhere: `from` has the place. */
struct pm_measure {
	uint64_t value;
	uint64_t low, high;
	uint32_t samples;
	char from[120];
	bool is_assumed; /* neither measured nor printed: derived as `from` says */
};

struct pm_site_curve_point {
	uint32_t threads;	   /* 0: all cores; of a loop */
	struct pm_measure measure; /* bytes per second */
};

struct pm_site_curve {
	enum pm_measured_curve curve;
	struct pm_site_curve_point *points;
	size_t n_points;
};

/* The bandwidth of a loop by threads. It may fall: the model does not use it. */
struct pm_site_loop {
	enum pm_measured_loop loop;
	enum pm_measured_place place;
	struct pm_site_curve_point *points;
	size_t n_points;
};

struct pm_site_value {
	enum pm_measured_value name;
	struct pm_measure measure;
};

struct pm_site_socket {
	uint32_t socket; /* physical number */
	struct pm_site_curve *curves;
	size_t n_curves;
	struct pm_site_value *values;
	size_t n_values;
	struct pm_site_loop *loops;
	size_t n_loops;
};

struct pm_site_profile {
	char class[PM_MODEL_CLASS_MAX];
	char date[32]; /* "2026-01-31T12:34:56.789Z" */
	char host[256], cpu[128], kernel[128], modules[256];
	char reference[256]; /* a publication: its sockets are like any; "": measured on `host` */
	bool is_virtual;     /* measured under a hypervisor */
	struct pm_site_socket *sockets;
	size_t n_sockets;
	/* Of all sockets at once, each with its own memory: what STREAM prints of a node that has
	 * more than one. */
	struct pm_site_loop *loops;
	size_t n_loops;
};

/*
 * Reads and checks a file: names and numbers, one row for each curve, value, and loop at a place,
 * and sound curves (model/curve.h). Release with pm_site_profile_done(). -EBADMSG: the sentence
 * names file, socket, curve and number, and the cure. On failure *ret is untouched.
 */
int pm_site_profile_load(const char *path, struct pm_site_profile *ret, struct pm_err *err);

/* The same of a file of the site's; also errors of pm_site_file_read(). */
int pm_site_profile_load_site(const char *path, struct pm_site_profile *ret, struct pm_err *err);

/* The file's text; malloc'ed, NULL when out of memory. */
char *pm_site_profile_format(const struct pm_site_profile *profile);

/* A socket's row; a reference has the same for each. NULL: it has none. */
const struct pm_site_socket *pm_site_profile_socket(
	const struct pm_site_profile *profile, unsigned socket);

/* The row of that name, a new one if there is none. NULL: out of memory. */
struct pm_site_socket *pm_site_profile_add_socket(struct pm_site_profile *profile, unsigned socket);
struct pm_site_curve *pm_site_socket_add_curve(
	struct pm_site_socket *socket, enum pm_measured_curve curve);
/* Of a socket or of the node. */
struct pm_site_loop *pm_site_add_loop(struct pm_site_loop **loops, size_t *n,
	enum pm_measured_loop loop, enum pm_measured_place place);

/* Adds a value, or replaces the one of that name. -ENOMEM. */
int pm_site_socket_set_value(struct pm_site_socket *socket, enum pm_measured_value name,
	const struct pm_measure *measure, struct pm_err *err);

/* NULL: not in the profile. */
const struct pm_site_curve *pm_site_socket_curve(
	const struct pm_site_socket *socket, enum pm_measured_curve curve);
const struct pm_site_value *pm_site_socket_value(
	const struct pm_site_socket *socket, enum pm_measured_value name);

/* The loop's row among `n` of a socket or of the node. NULL: there is none. */
const struct pm_site_loop *pm_site_loop(const struct pm_site_loop *loops, size_t n,
	enum pm_measured_loop loop, enum pm_measured_place place);

/*
 * The parameters of the model for a rank of that socket. -ENODATA: the profile has not this socket,
 * or it lacks a curve or peak that the model needs; the sentence says which.
 */
int pm_site_profile_model(const struct pm_site_profile *profile, unsigned socket,
	struct pm_model_words *ret, struct pm_err *err);

/* -EPERM, with the sentence for a profile that was measured under a hypervisor: --allow-virtual. */
int pm_site_profile_refuse_virtual(const struct pm_site_profile *profile, struct pm_err *err);

/* "copy-in", "peak-in", "triad", "read-pmem"; NULL when out of range. */
const char *pm_measured_curve_name(unsigned curve);
const char *pm_measured_value_name(unsigned value);
const char *pm_measured_loop_name(unsigned loop);
const char *pm_measured_place_name(unsigned place);

void pm_site_profile_done(struct pm_site_profile *profile);
void pm_site_socket_done(struct pm_site_socket *socket);

#endif
