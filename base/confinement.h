/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONFINEMENT_H
#define PM_CONFINEMENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A site may confine a program by a profile of AppArmor's; the kernel then refuses what the profile
 * does not name with EACCES, to root, too, and only the audit log says why. The kernel's text is in
 * /proc/PID/attr/current (apparmor(7), aa_getcon(2)): "NAME (enforce)", "NAME (complain)" or
 * "unconfined".
 */

/* Whether the text is that of an enforced profile; cuts it to the profile's name then. */
bool pm_confinement_cut(char *text);

/* The profile that confines this process; false if there is none or it does not fit. Keeps errno.
 */
bool pm_confinement_own(char *ret_profile, size_t size);

#endif
