/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: a line "machine" or "file" in the file DISCOVERIES for each topology that hwloc loads,
 * and each that it is told to read from a file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <hwloc.h>
#include <string.h>
#include <unistd.h>

static int from_file;

static void note(const char *line)
{
	const char *path = getenv("DISCOVERIES");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		_exit(99);
	close(fd);
}

int hwloc_topology_set_xml(hwloc_topology_t topology, const char *path)
{
	int (*real)(hwloc_topology_t, const char *) = dlsym(RTLD_NEXT, __func__);

	from_file = 1;
	return real(topology, path);
}

int hwloc_topology_load(hwloc_topology_t topology)
{
	int (*real)(hwloc_topology_t) = dlsym(RTLD_NEXT, __func__);

	note(from_file ? "file\n" : "machine\n");
	from_file = 0;
	return real(topology);
}
