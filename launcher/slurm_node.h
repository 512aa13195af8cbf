/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_SLURM_NODE_H
#define PM_LAUNCHER_SLURM_NODE_H

/*
 * A node of Slurm's as the words of a machine (plan/machine_words.h): sockets and cores as scontrol
 * shows them, memory as pmem.conf has it for jobs. DRAM is UsableMemory of mode appdirect;
 * persistent memory is UsableMemory of mode flat less that or, without it, UsablePmem.
 */
#include "base/err.h"
#include "site/config.h"

/*
 * *ret is malloc'ed. `config` has ScontrolPath; NodeName= lines for the node are read from
 * `config_path` (NULL: the default). -ENODATA: pmem.conf lacks a size, the sentence names the key;
 * -EINVAL: scontrol knows no such node.
 */
int pm_slurm_node_words(const char *config_path, const struct pm_config *config, const char *node,
	char **ret, struct pm_err *err);

/* The same for the nodes of a partition, which must be alike. */
int pm_slurm_partition_words(const char *config_path, const struct pm_config *config,
	const char *partition, char **ret, struct pm_err *err);

#endif
