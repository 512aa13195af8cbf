/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_BACKGROUND_H
#define PM_AGENT_BACKGROUND_H

#include "node/operation.h"

/*
 * Starts `pmctl VERB` in the background, with the caller's configuration: in a session of its own,
 * so that it outlives the prolog or epilog that started it, with the lowest priority, and without
 * the caller's descriptors. A failure is not reported. `verb` has one word or two, NULL behind.
 */
void pm_background_start(const struct pm_operation *op, const char *const *verb);

#endif
