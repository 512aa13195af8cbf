/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_DRAIN_CAUSE_H
#define PM_AGENT_DRAIN_CAUSE_H

/* The cause for which a node is out of service: a word of agent/drain_causes.def. */

/* Slurm's reason may be NULL or "": "none". */
const char *pm_drain_cause(const char *reason);

/* All causes, each once, in the order of the table; NULL at the end. */
const char *const *pm_drain_causes(void);

#endif
