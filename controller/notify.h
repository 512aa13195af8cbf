/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NOTIFY_H
#define PM_NOTIFY_H

/* Sends `state` ("READY=1") to systemd, see sd_notify(3); does nothing without $NOTIFY_SOCKET. */
void pm_notify(const char *state);

#endif
