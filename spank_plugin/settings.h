/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SETTINGS_H
#define PM_SETTINGS_H

#include "base/err.h"
#include "site/config.h"

/*
 * pmem.conf, with plugstack.conf's words on top: Key=Value pairs, and config=FILE for another file
 * than /etc/slurm/pmem.conf (which may be missing, FILE may not). Read on each call: nothing is
 * read before a job asks for a mode. Release with pm_config_done(). On failure *ret is untouched.
 */
int pm_settings_load(int ac, char **av, struct pm_config *ret, struct pm_err *err);

#endif
