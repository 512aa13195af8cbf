/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_POINTS_H
#define PM_POINTS_H

/* The measurements of a calibration, one by one, in their order. */
#include "measure/area.h"
#include "measure/sampling.h"

/* A socket that is measured. */
struct pm_calibrate_socket {
	unsigned number; /* physical */
	const int *cpus; /* one of each core */
	unsigned n_cpus;
	struct pm_area_place dram, pmem; /* of this socket */
	bool is_memory_mode; /* all sockets alike: `dram` is memory, there is no `pmem` */
	/* Memory Mode: bytes of an area that the DRAM cannot cache; 0: none, all sockets alike. */
	size_t beyond_bytes;
};

enum pm_point_kind { PM_POINT_COPY, PM_POINT_LOOP, PM_POINT_LATENCY };

#define PM_ALL_SOCKETS (-1)

struct pm_point {
	enum pm_point_kind kind;
	int socket; /* its index, or PM_ALL_SOCKETS */
	/* COPY: a curve, of which BOTH_IN brings BOTH_OUT along. STREAM: the loop at `place`.
	 * LATENCY: a value. */
	unsigned what;
	enum pm_measured_place place;
	unsigned threads;
};

struct pm_points {
	struct pm_point *list;
	size_t n;
};

/*
 * has_dax: places where bytes can be made persistent are measured. Release ret->list with free().
 * -ENOMEM.
 */
int pm_points_list(const struct pm_calibrate_socket *sockets, unsigned n_sockets, bool has_dax,
	const struct pm_effort *effort, struct pm_points *ret, struct pm_err *err);

/* "socket 0, copy-in with 8 threads", "all sockets, triad at read-pmem with 48 threads". */
void pm_point_text(const struct pm_point *point, const struct pm_calibrate_socket *sockets,
	char *ret, size_t size);

#endif
