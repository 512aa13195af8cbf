/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SLURM_CONF_H
#define PM_SLURM_CONF_H

/*
 * Settings of slurm.conf with which modes do not work, or not as users may expect: a line on stderr
 * for each.
 * `config_path` is pmem.conf's, NULL for the usual place.
 */
#include "controller/cluster.h"

void pm_warn_of_slurm_conf(const struct pm_cluster *cluster, const char *config_path);

#endif
