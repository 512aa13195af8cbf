/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SAY_H
#define PM_RUNTIME_SAY_H

/* "pm: rank 3: ..." as one line on standard error, without allocating. Long lines are cut. */
void pm_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
