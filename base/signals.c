/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"

#include <stddef.h>

void pm_signals_hold(sigset_t *ret_before)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGQUIT);
	sigprocmask(SIG_BLOCK, &held, ret_before);
}

void pm_signals_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}
