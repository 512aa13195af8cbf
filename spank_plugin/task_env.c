/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/task_env.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MAX_SOCKETS	16
#define MAX_STALE	256
#define NO_SOCKET	(-1)
#define TOPOLOGY_FORMAT "sys/devices/system/cpu/cpu%d/topology/physical_package_id"

static const enum pm_allotment_kind kinds[] = {
	PM_ALLOTMENT_DIR, PM_ALLOTMENT_DAX, PM_ALLOTMENT_NODE};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int socket_of_cpu(int root_fd, int cpu)
{
	char path[80], text[16];
	ssize_t length;
	cleanup_close int fd = -1;

	snprintf(path, sizeof(path), TOPOLOGY_FORMAT, cpu);
	fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NO_SOCKET;
	length = read(fd, text, sizeof(text) - 1);
	if (length <= 0)
		return NO_SOCKET;
	text[length] = '\0';
	return atoi(text);
}

/* The socket of most of this process's CPUs. */
static int own_socket(const char *fs_root)
{
	cleanup_close int root_fd = open(fs_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	unsigned counts[MAX_SOCKETS] = {0};
	int best = 0;
	cpu_set_t set;

	if (root_fd < 0 || sched_getaffinity(0, sizeof(set), &set))
		return NO_SOCKET;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int socket = CPU_ISSET(cpu, &set) ? socket_of_cpu(root_fd, cpu) : NO_SOCKET;

		if (socket >= 0 && socket < MAX_SOCKETS)
			counts[socket]++;
	}
	for (int i = 1; i < MAX_SOCKETS; i++)
		if (counts[i] > counts[best])
			best = i;
	return counts[best] ? best : NO_SOCKET;
}

static bool is_allotment_name(const char *name)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		const char *prefix = pm_jobview_name(kinds[i]);
		const char *rest = name + strlen(prefix);

		if (!strncmp(name, prefix, strlen(prefix)) && strchr("=0123456789", *rest))
			return true;
	}
	return false;
}

/* Collects the names first: each removal moves the variables behind it. */
static void unset_stale(spank_t sp)
{
	char *names[MAX_STALE];
	char **env = NULL;
	size_t count = 0;

	if (spank_get_item(sp, S_JOB_ENV, &env) != ESPANK_SUCCESS)
		return;
	for (size_t i = 0; env && env[i] && count < MAX_STALE; i++)
		if (is_allotment_name(env[i]))
			names[count++] = strndup(env[i], strcspn(env[i], "="));
	for (size_t i = 0; i < count; i++) {
		if (names[i])
			(void)spank_unsetenv(sp, names[i]);
		free(names[i]);
	}
}

static int set(spank_t sp, const char *name, const char *value, struct pm_err *err)
{
	if (spank_setenv(sp, name, value, 1) == ESPANK_SUCCESS)
		return 0;
	return pm_err_set(err, -EINVAL, "set %s for the task: refused by Slurm", name);
}

static int set_allotment(
	spank_t sp, const struct pm_allotment *allotment, size_t number, struct pm_err *err)
{
	char name[40], socket[16];
	int rc;

	snprintf(name, sizeof(name), "%s%zu", pm_jobview_name(allotment->kind), number);
	snprintf(socket, sizeof(socket), "%d", allotment->socket);
	rc = set(sp, name, allotment->value, err);
	if (rc)
		return rc;
	strcat(name, "_SOCKET");
	return set(sp, name, socket, err);
}

/* The first allotment of this kind on the socket, else the first of this kind; NULL: none. */
static const struct pm_allotment *nearest(
	const struct pm_jobview *view, enum pm_allotment_kind kind, int socket)
{
	const struct pm_allotment *best = NULL;

	for (size_t i = view->n; i-- > 0;) {
		const struct pm_allotment *allotment = &view->allotments[i];

		if (allotment->kind == kind &&
			(!best || allotment->socket == socket || best->socket != socket))
			best = allotment;
	}
	return best;
}

static int set_nearest(
	spank_t sp, const struct pm_jobview *view, const char *fs_root, struct pm_err *err)
{
	int socket = view->n ? own_socket(fs_root) : NO_SOCKET;
	int rc = 0;

	for (size_t i = 0; !rc && i < N_KINDS; i++) {
		const struct pm_allotment *allotment = nearest(view, kinds[i], socket);

		if (allotment)
			rc = set(sp, pm_jobview_name(kinds[i]), allotment->value, err);
	}
	return rc;
}

int pm_task_env_set(
	spank_t sp, const struct pm_jobview *view, const char *fs_root, struct pm_err *err)
{
	size_t numbers[N_KINDS] = {0};
	int rc = 0;

	unset_stale(sp);
	if (view->mode)
		rc = set(sp, "PM_MODE", pm_mode_name(view->mode), err);
	for (size_t i = 0; !rc && i < view->n; i++)
		rc = set_allotment(
			sp, &view->allotments[i], numbers[view->allotments[i].kind]++, err);
	return rc ? rc : set_nearest(sp, view, fs_root, err);
}

void pm_task_env_unset(spank_t sp)
{
	unset_stale(sp);
	(void)spank_unsetenv(sp, "PM_MODE");
}
