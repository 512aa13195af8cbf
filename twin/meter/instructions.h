/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_METER_INSTRUCTIONS_H
#define PM_METER_INSTRUCTIONS_H

/* Instructions of x86-64 that the meter treats in another way than others. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Between PM_MARK_BEGIN and PM_MARK_END is a region of interest. Between PM_MARK_PAUSE and
 * PM_MARK_RESUME a thread does the meter's own work, which is not counted. The marks do nothing on
 * a processor: they exchange a register with itself.
 */
enum pm_mark { PM_MARK_NONE, PM_MARK_BEGIN, PM_MARK_END, PM_MARK_PAUSE, PM_MARK_RESUME };

#define PM_METER_BEGIN()  __asm__ volatile("xchg %%bx, %%bx" ::: "memory")
#define PM_METER_END()	  __asm__ volatile("xchg %%cx, %%cx" ::: "memory")
#define PM_METER_PAUSE()  __asm__ volatile("xchg %%dx, %%dx" ::: "memory")
#define PM_METER_RESUME() __asm__ volatile("xchg %%si, %%si" ::: "memory")

enum pm_mark pm_mark_of(const uint8_t *code, size_t bytes);

/*
 * Is this a store with a non-temporal hint: MOVNTI, MOVNTQ, MOVNTDQ, MOVNTPS or MOVNTPD, in a
 * legacy, VEX or EVEX encoding (Intel SDM, volume 2)? Its bytes go to memory past the caches.
 */
bool pm_is_nontemporal_store(const uint8_t *code, size_t bytes);

#endif
