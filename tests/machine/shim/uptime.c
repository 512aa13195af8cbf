/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for the uptime of an emulated machine, for tests only.
 *
 * Preloaded into slurmd (LD_PRELOAD), it has sysinfo(2) count the uptime from PMSHIM_BOOTED, the
 * second since the Epoch in which the machine was last reset. Without it the kernel's own uptime
 * counts.
 *
 * slurmd -b would do, but for one thing: it reports an uptime of 0, which no real machine has when
 * its slurmd registers. To slurmctld, which compares whole seconds, the boot is then as young as
 * the registration, and counts for what it orders until that second ends: it starts jobs on a node
 * that has not rebooted for them (waiting_for_node_boot, node_mgr.c of 22.05).
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

int sysinfo(struct sysinfo *info)
{
	const char *booted = getenv("PMSHIM_BOOTED");

	if (syscall(SYS_sysinfo, info) != 0)
		return -1;
	if (booted)
		info->uptime = time(NULL) - strtol(booted, NULL, 10);
	return 0;
}
