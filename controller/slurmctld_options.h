/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SLURMCTLD_OPTIONS_H
#define PM_SLURMCTLD_OPTIONS_H

#include <stdbool.h>

/*
 * True if the slurmctld of this PID file (SlurmctldPidFile) runs without the option, a letter.
 * False also if its command line is not known.
 */
bool pm_slurmctld_lacks_option(const char *pid_file, char option);

#endif
