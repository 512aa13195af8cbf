/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ALONE_MPI_H
#define PM_ALONE_MPI_H

/*
 * MPI for one rank, as far as examples/minipic calls it: the meter counts the program's memory, and
 * not that of an MPI library, which is as large as a small input.
 */
#include <stdlib.h>

#define MPI_COMM_WORLD 0
#define MPI_IN_PLACE   NULL
#define MPI_DOUBLE     0
#define MPI_UINT64_T   0
#define MPI_SUM	       0
#define MPI_BXOR       0

static inline int MPI_Init(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static inline int MPI_Comm_rank(int communicator, int *rank)
{
	(void)communicator;
	*rank = 0;
	return 0;
}

static inline int MPI_Comm_size(int communicator, int *size)
{
	(void)communicator;
	*size = 1;
	return 0;
}

/* Of one rank in place: the sum is there. */
static inline int MPI_Allreduce(
	const void *from, void *to, int n, int type, int operation, int communicator)
{
	(void)from;
	(void)to;
	(void)n;
	(void)type;
	(void)operation;
	(void)communicator;
	return 0;
}

static inline void MPI_Abort(int communicator, int status)
{
	(void)communicator;
	exit(status);
}

static inline int MPI_Finalize(void)
{
	return 0;
}

#endif
