/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OWN_HOST_H
#define PM_OWN_HOST_H

/*
 * Which of slurm.conf's SlurmctldHosts this host is. With several of them the service asks its own
 * host's slurmctld alone: that one refuses all requests while another is in control. So two
 * services never act both, and it is slurmctld that decides which of them does.
 */
#include <netdb.h>
#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/cluster.h"

struct pm_own_host {
	bool has_others; /* slurm.conf has several SlurmctldHosts; else the rest is empty */
	char *name;	 /* SlurmctldHost=NAME(ADDRESS) */
	char *address;
	char *others;		   /* names, with commas */
	struct addrinfo *resolved; /* of the address, and SlurmctldPort */
};

/*
 * Finds this host among `n` of them: by name, as slurmctld does, with or without a domain; else by
 * an address that is one of this host's. -1: it is none of them.
 */
int pm_own_host_index(char *const *names, char *const *addresses, uint32_t n, const char *hostname);

/*
 * Call it after slurm_init(). With several SlurmctldHosts, Slurm's library in this process knows
 * only this one from here on, and the configuration in *cluster is slurm.conf's, as slurmctld may
 * not answer. -ENODEV: this host is none of them. Release with pm_own_host_done().
 */
int pm_own_host_adopt(struct pm_own_host *own, struct pm_cluster *cluster, struct pm_err *err);

/*
 * True if a program listens where this host's slurmctld does; to find out costs it nothing. Slurm's
 * library tries for MessageTimeout to reach one that does not run.
 */
bool pm_own_host_listens(const struct pm_own_host *own);

/* The address of the list (ControllerAddr) that is this host's, else the first; malloc'ed. */
char *pm_own_host_choose(const struct pm_own_host *own, const char *list);

void pm_own_host_done(struct pm_own_host *own);

#endif
