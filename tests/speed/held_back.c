/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into slurmd: its first connection to the port HELD_BACK_PORT, slurmctld's, waits for
 * the file HELD_BACK_UNTIL, and then for HELD_BACK_MS more. So hundreds of slurmds can be started
 * slowly and register at once.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void hold_back(void)
{
	static int is_through;
	const char *until = getenv("HELD_BACK_UNTIL"), *ms = getenv("HELD_BACK_MS");

	if (is_through || !until || !ms)
		return;
	while (access(until, F_OK))
		usleep(50 * 1000);
	is_through = 1;
	usleep((useconds_t)atoi(ms) * 1000);
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	static int (*real)(int, const struct sockaddr *, socklen_t);
	const char *port = getenv("HELD_BACK_PORT");

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "connect");
	if (port && address->sa_family == AF_INET &&
		ntohs(((const struct sockaddr_in *)address)->sin_port) == atoi(port))
		hold_back();
	return real(fd, address, length);
}
