/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TESTS_RECORDED_H
#define PM_TESTS_RECORDED_H

/* Recorded states of a machine, read by the parsers under test. */
#include "node/see/evidence.h"
#include "node/see/inventory.h"

/* tests/fixtures/ipmctl/STATE/{memoryresources,capabilities,dimm,region}.xml, and a kernel that
 * agrees with them. Ends the program when they cannot be read. */
void recorded_evidence(const char *state, struct pm_evidence *ret);

/* tests/fixtures/ipmctl/FILE */
void recorded_dimms(const char *file, struct pm_dimms *ret);
void recorded_goals(const char *file, struct pm_goals *ret);

/*
 * tests/fixtures/substate/SET/STATE.{regions,daxes}.json and fsdax.mountinfo, put together; SET is
 * "ndctl-81" or "ndctl-76". File systems are as pmctl makes them where the state is "fsdax".
 */
void recorded_inventory(const char *set, const char *state, struct pm_inventory *ret);

#endif
