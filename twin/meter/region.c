/* SPDX-License-Identifier: Apache-2.0 */
/* region COMMAND...: runs a command as a region of interest of the meter; its exit status is the
 * command's. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "twin/meter/instructions.h"

int main(int argc, char **argv)
{
	int status = 0;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: region COMMAND...\n");
		return 2;
	}
	PM_METER_BEGIN();
	child = fork();
	if (!child) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("region");
		return 1;
	}
	PM_METER_END();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
