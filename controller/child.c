/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PERIOD_MS 60000

/* Without descriptors of the service: peers would not see that theirs is closed. */
static _Noreturn void run_child(void (*run)(const void *), const void *context)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	run(context);
	_exit(0);
}

bool pm_child_turn(struct pm_child *child, void (*run)(const void *), const void *context)
{
	uint64_t now_ms = pm_now_ms();

	if (child->pid && waitpid(child->pid, NULL, WNOHANG) != 0)
		child->pid = 0;
	if (child->started_ms && now_ms - child->started_ms < PERIOD_MS)
		return false;
	child->started_ms = now_ms;
	if (child->pid) {
		(void)kill(child->pid, SIGKILL);
		return true;
	}
	child->pid = fork();
	if (!child->pid)
		run_child(run, context);
	if (child->pid < 0)
		child->pid = 0; /* the next minute */
	return false;
}
