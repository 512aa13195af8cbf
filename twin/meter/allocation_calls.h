/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_METER_ALLOCATION_CALLS_H
#define PM_METER_ALLOCATION_CALLS_H

/*
 * By system calls that Linux does not have, allocations.so tells the emulator's plugin about the
 * program's objects: (address, bytes, key of the call site), and (address).
 */
#define PM_METER_ALLOCATED 0x504d01
#define PM_METER_FREED	   0x504d02

#endif
