/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOCK_H
#define PM_LOCK_H

/*
 * One lock for all changes of the node's mode: an flock on a file. The kernel releases it when the
 * holder and all tools that inherited it, with their keepers (base/spawn.h), have ended. The file
 * has the holder's pid and verb, for the message of a process that waits.
 */
#include "base/err.h"

/*
 * Takes the lock, waiting up to `timeout_ms` (0: not at all). Returns the descriptor in *ret_fd;
 * closing it releases the lock. -EBUSY: "lock '...': held by pmctl set (pid 4711)", or, by a tool
 * that goes on although its pmctl was killed, "held by 'ipmctl create -goal' (pid 4712), left
 * behind by pmctl set (pid 4711)". Else the errno of open(2), flock(2) or a write.
 */
int pm_lock_take(
	const char *path, const char *verb, unsigned timeout_ms, int *ret_fd, struct pm_err *err);

#endif
