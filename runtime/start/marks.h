/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_MARKS_H
#define PM_RUNTIME_MARKS_H

/*
 * What the program tells of itself: runtime/pmplace.h, and MPI_Pcontrol(), MPI 4.0, §15.2.4. Until
 * it does, its iterations are inferred: runtime/lifetime/infer.h.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Large objects are asked about: from the start on, until the program marks iterations itself. */
extern atomic_bool pm_marks_infers;

/* Where objects are placed. */
void pm_marks_start(void);

/* A large object is asked for, to go on at `caller`. */
void pm_marks_asked(const void *caller, size_t bytes);

/* As programs have them; also MPI_Pcontrol() in C and in Fortran: a level above 0 is an iteration.
 */
void pmplace_iteration(void);
void pmplace_phase(const char *name);
int MPI_Pcontrol(const int level, ...);
void mpi_pcontrol_(const int *level);

#endif
