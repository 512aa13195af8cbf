/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CHILD_H
#define PM_CHILD_H

/*
 * What pm-controller looks up each minute where an answer may take long, in a child: a directory
 * service, other clusters.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pm_child {
	uint64_t started_ms; /* of the last one; 0: none yet */
	pid_t pid;	     /* 0: none runs */
};

/*
 * Starts a child that calls `run` and ends; call it in each turn of the service. True: the last one
 * has not ended within a minute, and is killed.
 */
bool pm_child_turn(struct pm_child *child, void (*run)(const void *), const void *context);

#endif
