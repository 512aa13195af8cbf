/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MACHINE_WORDS_H
#define PM_MACHINE_WORDS_H

/* A machine in a few words: "2x24,96G+768G", as somebody has it in mind before it is bought. */
#include "plan/topology.h"

/*
 * Reads SOCKETSxCORES[xTHREADS],DRAM[+PMEM]: sockets, cores of each, hardware threads of a core (1
 * if left out), and the memory of each socket, as pm_parse_size() has it. Sets `synthetic` and the
 * hints of *ret, for pm_topology_load(): NUMA nodes 0 to SOCKETS-1 are DRAM, those behind them
 * persistent memory in system-ram mode. Release both with pm_machine_words_done(). -EINVAL, with
 * what is wrong; -ENOMEM.
 */
int pm_machine_words_read(const char *text, struct pm_topology_source *ret, struct pm_err *err);

void pm_machine_words_done(struct pm_topology_source *source);

#endif
