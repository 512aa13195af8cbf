/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SLURMCTLD_HOSTS_H
#define PM_SLURMCTLD_HOSTS_H

/*
 * Where slurmctld runs, from slurm.conf, without asking slurmctld. The file is the first that
 * exists of $SLURM_CONF, slurm.conf beside pmem.conf, and /run/slurm/conf/slurm.conf, where slurmd
 * and sackd keep what slurmctld has served to them (slurm.conf(5), "configless").
 */
#include <stdbool.h>

#include "base/err.h"

/*
 * *ret is malloc'ed: addresses with commas between them, as in ControllerAddr: SlurmctldAddr alone,
 * else each SlurmctldHost, by the address in its parentheses, else its name. Reads included files,
 * too. `pmem_conf` NULL: PM_CONFIG_DEFAULT_PATH. *ret_here: this machine has the name of a
 * SlurmctldHost. -ENOENT: none of the files exists, or none of these keys is in it; else of
 * pm_file_read().
 *
 * Slurm lets SlurmUser own slurm.conf, so it is read whoever owns it. Ask the address for nothing
 * that root's signature does not prove (protocol/client_tcp.h).
 */
int pm_slurmctld_hosts(const char *pmem_conf, char **ret, bool *ret_here, struct pm_err *err);

#endif
