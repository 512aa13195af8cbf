/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter SEED PIECE_KIB MIB COMMAND...: runs a command on memory that the kernel gives out in an
 * order by chance, as on a node that has long been up. It takes MIB mebibytes, and gives every
 * second piece of them back, in an order that SEED decides; the others it keeps until the command
 * has ended.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Knuth's MMIX generator; its high bits. */
static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void shuffle(size_t *order, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t j = next(&seed) % i, one = order[i - 1];

		order[i - 1] = order[j];
		order[j] = one;
	}
}

static int scatter(uint64_t seed, size_t piece, size_t bytes)
{
	size_t n = bytes / piece, *order = malloc(n * sizeof(*order));
	char *memory = mmap(NULL, n * piece, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!order || memory == MAP_FAILED)
		return -1;
	if (piece < (2 << 20))
		madvise(memory, n * piece, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < n * piece; at += 4096)
		memory[at] = 1;
	shuffle(order, n, seed);
	for (size_t i = 0; i < n / 2; i++)
		if (madvise(memory + order[i] * piece, piece, MADV_DONTNEED))
			return -1;
	free(order);
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	if (argc < 5)
		return 2;
	if (scatter(strtoull(argv[1], NULL, 10), strtoul(argv[2], NULL, 10) << 10,
		    strtoul(argv[3], NULL, 10) << 20)) {
		perror("scatter");
		return 1;
	}
	child = fork();
	if (!child) {
		execvp(argv[4], argv + 4);
		perror(argv[4]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
