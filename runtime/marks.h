/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_MARKS_H
#define PM_RUNTIME_MARKS_H

/* What the program tells of itself: runtime/pmplace.h, and MPI_Pcontrol(), MPI 4.0, §15.2.4. */
#include <stdint.h>

/* Of the main loop, from 1 on; 0: before the first, or nobody tells. */
uint32_t pm_marks_iteration(void);

/* As programs have them; also MPI_Pcontrol() in C and in Fortran: a level above 0 is an iteration.
 */
void pmplace_iteration(void);
void pmplace_phase(const char *name);
int MPI_Pcontrol(const int level, ...);
void mpi_pcontrol_(const int *level);

#endif
