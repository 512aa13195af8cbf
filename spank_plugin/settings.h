/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SETTINGS_H
#define PM_SETTINGS_H

#include "base/err.h"
#include "site/config.h"

/*
 * Loads pmem.conf, overridden by words of plugstack.conf: Key=Value pairs, and config=FILE for
 * another file than /etc/slurm/pmem.conf. The default file may be missing, FILE may not. The file
 * is read on each call, as most jobs need no configuration. Release with pm_config_done(). On
 * failure *ret is untouched.
 */
int pm_settings_load(int ac, char **av, struct pm_config *ret, struct pm_err *err);

/* FILE of config=FILE; NULL: the default one. */
const char *pm_settings_file(int ac, char **av);

#endif
