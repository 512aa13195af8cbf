/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"

void pm_notify(const char *state)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;

	if (fd < 0 || !length || length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@') /* an abstract socket */
		address.sun_path[0] = '\0';
	(void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}
