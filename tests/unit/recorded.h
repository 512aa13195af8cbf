/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TESTS_RECORDED_H
#define PM_TESTS_RECORDED_H

/* Recorded states of a machine, read by the parsers under test. */
#include "lib/evidence.h"

/* tests/fixtures/ipmctl/STATE/{memoryresources,capabilities,dimm,region}.xml, and a kernel that
 * agrees with them. Ends the program when they cannot be read. */
void recorded_evidence(const char *state, struct pm_evidence *ret);

/* tests/fixtures/ipmctl/FILE */
void recorded_dimms(const char *file, struct pm_dimms *ret);
void recorded_goals(const char *file, struct pm_goals *ret);

#endif
