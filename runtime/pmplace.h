/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PMPLACE_H
#define PMPLACE_H

/*
 * Marks for the placement runtime, pmplace(7). A program links nothing for them: the functions are
 * weak references, and without the runtime the calls do nothing. In MPI programs MPI_Pcontrol(1) is
 * the same as pm_iteration().
 */
#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void pmplace_iteration(void);
__attribute__((weak)) void pmplace_phase(const char *name);

/* An iteration of the main loop begins. Lifetimes of objects are counted in iterations. */
static inline void pm_iteration(void)
{
	if (pmplace_iteration)
		pmplace_iteration();
}

/* A phase begins, for example "pusher". Up to 63 bytes of the name are copied. */
static inline void pm_phase(const char *name)
{
	if (pmplace_phase)
		pmplace_phase(name);
}

#ifdef __cplusplus
}
#endif
#endif
