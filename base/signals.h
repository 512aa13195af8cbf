/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SIGNALS_H
#define PM_SIGNALS_H

/* Blocks SIGTERM, SIGINT, SIGHUP and SIGQUIT while the modules are changed. */
#include <signal.h>

void pm_signals_hold(sigset_t *ret_before);
void pm_signals_release(const sigset_t *before);

#endif
