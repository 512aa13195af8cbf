/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SPAWN_H
#define PM_SPAWN_H

/* How pm_run() starts a program (base/run.h), in one of three ways. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pm_program {
	const char *const *argv;
	const char *const *env; /* NULL: PATH=/usr/sbin:/usr/bin:/sbin:/bin and LC_ALL=C, no more */
	unsigned timeout_ms;	/* 0: wait for ever */
	bool dies;   /* is killed with the calling thread: for a program that changes nothing */
	int lock_fd; /* an flock that lasts as long as the program, see pm_spawn(); 0: none */
	size_t max_output_bytes; /* of stdout and stderr each; 0: 1 MiB */
};

struct pm_spawned {
	pid_t pid;   /* to wait for: the program, or its keeper, which ends with its status */
	pid_t group; /* the process group of the program */
};

/*
 * The program's stdout and stderr become `out` and `err`. 0 or the negative errno of fork, exec or
 * a pipe.
 *
 * - One that dies with its caller is forked, as posix_spawn(3) cannot ask for a signal at the
 *   parent's death.
 * - One that has a lock, and so changes something, goes on when its caller is killed, and so does
 *   the lock. SELinux takes descriptors from a program that runs in another domain, the lock's
 *   among them. Hence the keeper: a child of ours, in a process group of its own, that starts the
 *   program, has the lock and waits. A program that is killed but stays in the kernel has its
 *   keeper until it ends.
 * - Others by posix_spawn(3).
 */
int pm_spawn(const struct pm_program *run, int out, int err, struct pm_spawned *ret);

/* The exit status, or 128 + the signal, of what waitpid(2) returned. */
int pm_spawn_status(int status);

#endif
