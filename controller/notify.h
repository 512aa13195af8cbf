/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NOTIFY_H
#define PM_NOTIFY_H

/* Tells systemd "READY=1" or the like, see sd_notify(3); without $NOTIFY_SOCKET nothing. */
void pm_notify(const char *state);

#endif
