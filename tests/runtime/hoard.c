/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hoard BYTES COUNT [COMMAND...]: takes so many objects, writes to each page of them, and keeps
 * them to its end; before that it runs the command, if any. Its exit status is the command's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static int run(char **command)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		execvp(*command, command);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	int count = argc > 2 ? atoi(argv[2]) : 0;
	char **objects = calloc((size_t)count + 1, sizeof(*objects));

	for (int i = 0; objects && i < count; i++) {
		objects[i] = malloc(bytes);
		if (!objects[i])
			return 2;
		for (size_t at = 0; at < bytes; at += PAGE)
			*(volatile char *)&objects[i][at] = 1;
	}
	return argc > 3 ? run(argv + 3) : 0;
}
