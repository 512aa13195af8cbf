/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/apply/preload.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/suggest.h"

#define MAX_SCRIPTS 4 /* nested interpreters that the kernel follows: BINPRM_MAX_RECURSION */
#define LINE_BYTES  256

/* ELF header of the program or library with this code; ld(1) defines the symbol. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

static const char is_static[] = "it is statically linked";
static const char is_secure[] =
	"it runs with other rights than yours (setuid, setgid or file capabilities)";
static const char is_other[] = "it is for another kind of processor";

const char *pm_preload_asked(const char *name, bool own)
{
	if (!name)
		return own ? "place" : NULL;
	return strcmp(name, "none") != 0 ? name : NULL;
}

const char *pm_preload_meant(const char *name)
{
	static const char *const names[] = {"place", "none", NULL};
	const char *meant = strchr(name, '/') ? NULL : pm_suggest_word(name, names);

	return meant && strcmp(meant, name) != 0 ? meant : NULL;
}

static bool fits_in_a_list(const char *path)
{
	return !path[strcspn(path, ": \t\n")];
}

int pm_preload_find(const char *name, char **ret, struct pm_err *err)
{
	cleanup_free char *path =
		strchr(name, '/') ? strdup(name) : pm_asprintf(PM_RUNTIMEDIR "/libpm%s.so", name);
	const char *meant = pm_preload_meant(name);
	char *resolved;

	if (!path)
		return pm_err_nomem(err);
	resolved = realpath(path, NULL);
	if (!resolved && meant)
		return pm_err_set(err, -ENOENT, "runtime '%.64s' is not there, did you mean '%s'?",
			name, meant);
	if (!resolved)
		return pm_err_sys(err, -errno, "runtime '%.64s': '%.200s'", name, path);
	if (!fits_in_a_list(resolved)) {
		free(resolved);
		return pm_err_set(err, -EINVAL,
			"runtime '%.64s': LD_PRELOAD cannot hold a path with ':' or white space",
			name);
	}
	*ret = resolved;
	return 0;
}

char *pm_preload_prepend(const char *runtime, const char *old)
{
	return old && *old ? pm_asprintf("%s:%s", runtime, old) : strdup(runtime);
}

/*
 * True: execve(2) of this file sets AT_SECURE. A setuid file of the user's own does not, and file
 * capabilities do not for root.
 */
static bool gains_rights(const char *program)
{
	struct stat info;

	if (stat(program, &info))
		return false;
	if (info.st_mode & S_ISUID && info.st_uid != geteuid())
		return true;
	if (info.st_mode & S_ISGID && info.st_mode & S_IXGRP && info.st_gid != getegid())
		return true;
	return geteuid() && getxattr(program, "security.capability", NULL, 0) > 0;
}

/* True: a program header PT_INTERP names a dynamic loader, elf(5). */
static bool has_loader(int fd, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t at = header->e_phoff + (uint64_t)i * header->e_phentsize;
		Elf64_Phdr row;

		if (at > INT64_MAX ||
			pread(fd, &row, sizeof(row), (off_t)at) != (ssize_t)sizeof(row))
			return false;
		if (row.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *obstacle_of_elf(int fd)
{
	Elf64_Ehdr header = {0};

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return NULL;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != __ehdr_start.e_machine)
		return is_other;
	return has_loader(fd, &header) ? NULL : is_static;
}

/* Interpreter of a line "#! /bin/sh -e"; NULL: not an absolute path. Cuts `line`. */
static char *interpreter_in(char *line)
{
	char *name = line + 2 + strspn(line + 2, " \t");

	name[strcspn(name, " \t\n")] = '\0';
	return *name == '/' ? name : NULL;
}

/*
 * Setuid and setgid bits are checked even if the file cannot be read. The kernel ignores those of a
 * script.
 */
static const char *look(const char *program, unsigned depth)
{
	cleanup_close int fd = open(program, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char line[LINE_BYTES] = "";
	char *interpreter;

	if (fd >= 0 && read(fd, line, sizeof(line) - 1) < SELFMAG)
		return NULL;
	if (!strncmp(line, "#!", 2)) {
		interpreter = interpreter_in(line);
		return interpreter && depth ? look(interpreter, depth - 1) : NULL;
	}
	if (gains_rights(program))
		return is_secure;
	return memcmp(line, ELFMAG, SELFMAG) ? NULL : obstacle_of_elf(fd);
}

const char *pm_preload_obstacle(const char *program)
{
	return look(program, MAX_SCRIPTS);
}
