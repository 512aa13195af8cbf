/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

#define MAX_BYTES  (16 * 1024 * 1024)
#define MAX_FDINFO 65536

static bool is_octal(const char *text)
{
	for (int i = 0; i < 3; i++)
		if (text[i] < '0' || text[i] > '7')
			return false;
	return true;
}

/* Space, tab, newline and backslash are written as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (*from == '\\' && is_octal(from + 1)) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* "36 35 98:0 /root /point options tag:1 - type source super_options" */
static bool read_line(char *line, struct pm_mount *ret)
{
	char *rest = strstr(line, " - "), *fields[6], *tail[3];
	int n;

	if (!rest)
		return false;
	*rest = '\0';
	for (n = 0; n < 6 && (fields[n] = strsep(&line, " ")); n++)
		;
	rest += strlen(" - ");
	for (int i = 0; i < 3; i++, n++)
		if (!(tail[i] = strsep(&rest, " ")))
			return false;
	if (n != 9 || !*fields[2] || !*fields[4])
		return false;
	unescape(fields[4]);
	unescape(tail[1]);
	*ret = (struct pm_mount){.id = strtoul(fields[0], NULL, 10),
		.device = fields[2],
		.root = fields[3],
		.point = fields[4],
		.type = tail[0],
		.source = tail[1],
		.options = fields[5],
		.super_options = tail[2]};
	return true;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

int pm_mounts_read(const char *text, struct pm_mounts *ret, struct pm_err *err)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {
		.text = strdup(text),
		.list = calloc(count_lines(text) + 1, sizeof(*mounts.list)),
	};
	char *rest = mounts.text;
	const char *line;

	if (!mounts.text || !mounts.list)
		return pm_err_nomem(err);
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		if (!read_line((char *)line, &mounts.list[mounts.n]))
			return pm_err_set(err, -EBADMSG,
				"mount %zu of mountinfo cannot be parsed: '%.200s'", mounts.n + 1,
				line);
		mounts.n++;
	}
	*ret = mounts;
	mounts = (struct pm_mounts){0};
	return 0;
}

int pm_mounts_load(const char *fs_root, struct pm_mounts *ret, struct pm_err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", fs_root);
	return pm_mounts_load_at(AT_FDCWD, path, ret, err);
}

int pm_mounts_load_at(int dir_fd, const char *path, struct pm_mounts *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	int rc = pm_file_read(dir_fd, path, MAX_BYTES, &text, NULL, err);

	return rc ? rc : pm_mounts_read(text, ret, err);
}

unsigned long pm_mount_id_of(int proc_fd, int fd)
{
	static const char key[] = "mnt_id:";
	cleanup_free char *text = NULL;
	const char *at;
	char path[64];

	snprintf(path, sizeof(path), "self/fdinfo/%d", fd);
	if (pm_file_read(proc_fd, path, MAX_FDINFO, &text, NULL, NULL))
		return 0;
	at = strstr(text, key);
	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

static bool list_has(const char *list, const char *option)
{
	size_t length = strlen(option);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (!strncmp(list, option, length) && (!list[length] || list[length] == ','))
			return true;
	return false;
}

bool pm_mount_has(const struct pm_mount *mount, const char *option)
{
	return list_has(mount->options, option) || list_has(mount->super_options, option);
}

const struct pm_mount *pm_mounts_at(const struct pm_mounts *mounts, const char *point)
{
	for (size_t i = mounts->n; i-- > 0;)
		if (!strcmp(mounts->list[i].point, point))
			return &mounts->list[i];
	return NULL;
}

void pm_mounts_done(struct pm_mounts *mounts)
{
	free(mounts->text);
	free(mounts->list);
	*mounts = (struct pm_mounts){0};
}
