/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FAMILY_H
#define PM_FAMILY_H

/*
 * The ranks that pmrun starts itself (pmrun -n 4 ./app): its children, in its process group, so
 * that a terminal's keys reach them directly. Rank 0 has pmrun's stdin, the others have none, as
 * under mpirun.
 */
#include <signal.h>

#include "base/err.h"

/* Becomes the rank and does not return, or returns the exit status of a failure. */
typedef int pm_family_rank(unsigned rank, void *data);

/*
 * Starts `n` processes and waits for all. Signals to this process alone (SIGTERM, SIGINT, SIGHUP,
 * SIGQUIT, SIGUSR1, SIGUSR2) are passed on to all that are alive. When this process dies, they get
 * SIGTERM. *ret_status is the first exit status that is not 0, 128 + N after signal N; 0: all ended
 * with 0. If one cannot be started, the others are ended and *err is filled.
 */
int pm_family_run(
	unsigned n, pm_family_rank *become, void *data, int *ret_status, struct pm_err *err);

#endif
