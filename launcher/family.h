/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FAMILY_H
#define PM_FAMILY_H

/*
 * The ranks that pmrun starts itself (pmrun -n 4 ./app): its children, in its process group, so
 * that a terminal's keys reach them without us. Rank 0 has our stdin, the others have none, as
 * under mpirun.
 */
#include <signal.h>

#include "base/err.h"

/* Becomes the rank and does not return, or returns the exit status that says what went wrong. */
typedef int pm_family_rank(unsigned rank, void *data);

/*
 * Starts `n` processes and waits for all. What is sent to us alone (SIGTERM, SIGINT, SIGHUP,
 * SIGQUIT, SIGUSR1, SIGUSR2) is passed on to all that live; when we die, they get SIGTERM.
 * Returns the exit status of the first that ended with one that is not 0, 128 + N after signal N;
 * 0 when all ended with 0. Where one cannot be started the others are ended, and *err is filled.
 */
int pm_family_run(
	unsigned n, pm_family_rank *become, void *data, int *ret_status, struct pm_err *err);

#endif
