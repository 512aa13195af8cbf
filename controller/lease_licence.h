/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LEASE_LICENCE_H
#define PM_LEASE_LICENCE_H

/*
 * The lease by which pending jobs are held (docs/dev/leases.md): the licence PM_LEASE_LICENCE of
 * slurm.conf, all of which a reservation of the same name has. A job that asks for the licence
 * waits until the reservation ends. It ends PM_LEASE_S after its last renewal, so that all such
 * jobs start if the service dies.
 *
 * <run_dir>/leases tells pmem.lua, which then gives new jobs the licence: a line
 * "slurm-pmem-leases 1 <until>", Unix time, and a line "wakes" if slurmctld wakes nodes for jobs
 * for which no node may change its mode. pmem.lua ignores the file after that time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define PM_LEASE_LICENCE "pm_wait"
#define PM_LEASE_S	 90

/* All-zero: not renewed yet. */
struct pm_lease_licence {
	uint64_t renewed_ms;
	bool missing; /* slurm.conf has no such licence; it was said */
	bool failing; /* the last renewal failed; it was said */
};

/*
 * In each turn while jobs may be held: renews the reservation, or makes it, once in PM_LEASE_S / 3.
 * True while the lease is in force. A failure is logged once.
 */
bool pm_lease_licence_keep(struct pm_lease_licence *licence, const char *run_dir, bool wakes);

/* A job's licences "matlab:1,pm_wait:1", NULL for none: whether it has the lease's. */
bool pm_lease_is_on(const char *licences);

/* The same licences with the lease's, or without it; malloc'ed, NULL when out of memory. */
char *pm_lease_with(const char *licences);
char *pm_lease_without(const char *licences);

#endif
