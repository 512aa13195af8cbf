/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the STREAM of HPCC alone, on three arrays of 16 MiB. */
#include <hpcc.h>

int HPCC_LocalVectorSize(HPCC_Params *params, int vectors, size_t size, int pow2)
{
	(void)params, (void)vectors, (void)pow2;
	return (int)((16 << 20) / size);
}

int main(int argc, char **argv)
{
	HPCC_Params params = {.outFname = "/dev/null"};
	double copy, scale, add, triad;
	int failure;

	MPI_Init(&argc, &argv);
	HPCC_Stream(&params, 1, MPI_COMM_WORLD, 0, &copy, &scale, &add, &triad, &failure);
	MPI_Finalize();
	return failure;
}
