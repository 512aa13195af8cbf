/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PMPLACE_H
#define PMPLACE_H

/*
 * What a program may tell the placement runtime, pmplace(7). It need not be linked to anything:
 * without the runtime these calls do nothing. MPI programs have MPI_Pcontrol(1) for the first one.
 */
#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void pmplace_iteration(void);
__attribute__((weak)) void pmplace_phase(const char *name);

/* The main loop begins its next round. Lifetimes of objects are counted in these. */
static inline void pm_iteration(void)
{
	if (pmplace_iteration)
		pmplace_iteration();
}

/* What comes now, as "pusher"; the name is copied, up to 63 bytes of it. */
static inline void pm_phase(const char *name)
{
	if (pmplace_phase)
		pmplace_phase(name);
}

#ifdef __cplusplus
}
#endif
#endif
