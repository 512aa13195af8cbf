/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MACHINE_WORDS_H
#define PM_MACHINE_WORDS_H

/* A machine in a few words: "2x24,96G+768G". It need not exist. */
#include "plan/topology.h"

/* Input of pm_topology_load(): members `synthetic` and `hints` of its source. */
struct pm_machine_words {
	char *synthetic;
	struct pm_memory_hint *hints;
	size_t n_hints;
};

/*
 * Reads SOCKETSxCORES[xTHREADS],DRAM[+PMEM]: sockets, cores of each, hardware threads of a core (1
 * if left out), and the memory of each socket, as pm_parse_size() has it. NUMA nodes 0 to SOCKETS-1
 * are DRAM, those behind them persistent memory in system-ram mode. Release with
 * pm_machine_words_done(). -EINVAL, with the word that is wrong; -ENOMEM.
 */
int pm_machine_words_read(const char *text, struct pm_machine_words *ret, struct pm_err *err);

void pm_machine_words_done(struct pm_machine_words *words);

#endif
