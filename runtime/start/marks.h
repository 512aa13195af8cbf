/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_MARKS_H
#define PM_RUNTIME_MARKS_H

/*
 * Marks that the program sets: iterations and phases, by runtime/pmplace.h or by MPI_Pcontrol()
 * (MPI 4.0, §15.2.4). Until the first mark, iterations are inferred: runtime/lifetime/infer.h.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Iterations are inferred: from the start on, until the program marks one. */
extern atomic_bool pm_marks_inferring;

/* Begins to infer iterations. To be called as soon as objects are placed. */
void pm_marks_start(void);

/* A large object is about to be allocated. `caller` is the return address. Keeps errno. */
void pm_marks_large_alloc(const void *caller, size_t bytes);

/* Exported. MPI_Pcontrol() of C and of Fortran marks an iteration if its level is above 0. */
void pmplace_iteration(void);
void pmplace_phase(const char *name);
int MPI_Pcontrol(const int level, ...);
void mpi_pcontrol_(const int *level);

#endif
