/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several SlurmctldHosts this host is, and which address of ControllerAddr is its own. */
#define _GNU_SOURCE
#include "controller/own_host.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/tap.h"

/* Addresses of TEST-NET-2 belong to no host. */
static char *const far[] = {"198.51.100.1", "198.51.100.2"};

static const struct {
	const char *name;
	char *names[2];
	char *const *addresses;
	const char *hostname;
	int index;
} rows[] = {
	{"the first", {"a", "b"}, far, "a", 0},
	{"the second", {"a", "b"}, far, "b", 1},
	{"the host has a domain", {"a", "b"}, far, "b.site", 1},
	{"slurm.conf has one", {"a.site", "b.site"}, far, "b", 1},
	{"both have the same", {"b.one", "b.two"}, far, "b.two", 1},
	{"the beginning of a name is another name", {"ab", "b"}, far, "a", -1},
	{"none", {"a", "b"}, far, "c", -1},
	{"by its address", {"a", "b"}, (char *const[]){"198.51.100.1", "127.0.0.1"}, "c", 1},
	{"an address that nothing resolves", {"a", "b"}, (char *const[]){"", "127.0.0.1"}, "c", 1},
	{"the name counts first", {"a", "b"}, (char *const[]){"127.0.0.1", "198.51.100.1"}, "b", 1},
};

static const struct {
	const char *name;
	struct pm_own_host own;
	const char *list, *chosen;
} choices[] = {
	{"one controller", {0}, "head:1", "head:1"},
	{"by name", {.has_others = true, .name = "b", .address = "b"}, "a:1,b:2", "b:2"},
	{"with a domain", {.has_others = true, .name = "b", .address = "b"}, "a.x,b.x:2", "b.x:2"},
	{"by address", {.has_others = true, .name = "b", .address = "::2"}, "[::1],[::2]:2",
		"[::2]:2"},
	{"neither", {.has_others = true, .name = "b", .address = "b"}, "vip:3,a", "vip:3"},
};

/* A listener of 127.0.0.1 on a free port, which is returned. */
static uint16_t listen_somewhere(int *ret_fd)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	const int yes = 1;

	*ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(*ret_fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(*ret_fd, (struct sockaddr *)&at, size) || listen(*ret_fd, 1) ||
		getsockname(*ret_fd, (struct sockaddr *)&at, &size))
		return 0;
	return at.sin_port;
}

static void test_listens(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct addrinfo one = {
		.ai_family = AF_INET, .ai_addr = (struct sockaddr *)&at, .ai_addrlen = sizeof(at)};
	const struct pm_own_host own = {.has_others = true, .resolved = &one};
	int fd;

	at.sin_port = listen_somewhere(&fd);
	ok(pm_own_host_listens(&own), "a program listens");
	ok(pm_own_host_listens(&own), "and was not hindered");
	(void)close(fd);
	ok(!pm_own_host_listens(&own), "it has ended");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ok(pm_own_host_index(rows[i].names, rows[i].addresses, 2, rows[i].hostname) ==
				rows[i].index,
			"%s", rows[i].name);
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		cleanup_free char *chosen = pm_own_host_choose(&choices[i].own, choices[i].list);

		ok(chosen && !strcmp(chosen, choices[i].chosen), "port: %s", choices[i].name);
	}
	test_listens();
	return tap_done();
}
