/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power lost, or a call failing, at one chosen step of a program that knows nothing of it.
 *
 * Preloaded into pmctl and into the tools that it runs, it knows each call by which they change
 * something: files made, synced, renamed, removed, bytes written to a DIMM, tools started. Each
 * such step has a label, such as "set:rename:journal.json#2": the program's first words, the call,
 * what it is about, and which of its kind it is since the trace began.
 *
 * $PMFAULT is the node's directory below a bench. While it holds a file `trace`, every step is
 * appended there. A file `plan` there holds one line "ACTION WHEN LABEL", or "errno=N from LABEL
 * FOLDER":
 *
 *   power before|after   the bench's supervisor resets the node; this process does nothing more
 *   reset before|after   the same on a machine of its own: the kernel resets it at once
 *   restart before|after the supervisor replaces the node's slurmd; this process goes on
 *   hold before|after    a file `held` appears, and the process waits until somebody removes it
 *   errno=28 from        from this step on every change below FOLDER fails, as on a full disk;
 *                        other values than ENOSPC as on one mounted read-only
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define HOLD_STEPS  4000
#define HOLD_US	    10000
#define LABEL_MAX   200
#define NEXT(name_) ((__typeof__(&name_))dlsym(RTLD_NEXT, #name_))

struct plan {
	char action[16], when[8], label[LABEL_MAX], folder[PATH_MAX];
};

/* --- files of the node, by system call: our own calls are no steps --- */

static const char *own_path(const char *name, char buf[PATH_MAX])
{
	const char *dir = getenv("PMFAULT");

	if (!dir || snprintf(buf, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		return NULL;
	return buf;
}

static int raw_open(const char *name, int flags)
{
	char buf[PATH_MAX];
	const char *path = own_path(name, buf);

	return path ? (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644) : -1;
}

static void raw_write(int fd, const char *text)
{
	(void)!syscall(SYS_write, fd, text, strlen(text));
}

static bool read_plan(struct plan *ret)
{
	char text[sizeof(struct plan) + 8] = "";
	int fd = raw_open("plan", O_RDONLY);
	int fields;

	if (fd < 0)
		return false;
	*ret = (struct plan){0};
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	fields = sscanf(text, "%15s %7s %199[^\t\n]\t%4095s", ret->action, ret->when, ret->label,
		ret->folder);
	return fields >= 3;
}

/* --- labels --- */

/* "set", "job begin", "create": the words before the first option, behind pmctl's --config FILE. */
static void program_words(char *ret, size_t size)
{
	char line[4096] = "";
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, line, sizeof(line) - 1);
	const char *word = line + strlen(line) + 1;
	int words = 0;

	close(fd);
	*ret = '\0';
	for (; word < line + length && words < 2; word += strlen(word) + 1) {
		if (!strcmp(word, "--config"))
			word += strlen(word) + 1;
		else if (*word != '-' && strspn(word, "abcdefghijklmnopqrstuvwxyz") == strlen(word))
			words += snprintf(ret + strlen(ret), size - strlen(ret), "%s%s",
					 words ? " " : "", word) > 0;
		else
			break;
	}
}

/*
 * The last component, without the random end of a temporary name: "journal.json". A job's number is
 * not the same at each run: "12.json" is "ID.json".
 */
static void subject_of(const char *path, char *ret, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t digits = strspn(name, "0123456789");
	bool is_number = digits && (!name[digits] || name[digits] == '.');
	size_t length;

	snprintf(ret, size, "%s%s", is_number ? "ID" : "", name + (is_number ? digits : 0));
	length = strlen(ret);
	if (length > 7 && ret[length - 7] == '.' && !strchr(ret + length - 6, '.')) {
		length -= strlen(".XXXXXX");
		if (length > 4 && !strncmp(ret + length - 4, ".new", 4))
			length -= strlen(".new");
		ret[length] = '\0';
	}
}

static unsigned count_lines(int fd, const char *line)
{
	char *text = NULL, *at;
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned found = 0;

	text = calloc(1, (size_t)size + 1);
	if (text && pread(fd, text, (size_t)size, 0) == size)
		for (at = text; (at = strstr(at, line)); at += strlen(line))
			found += (at == text || at[-1] == '\n') && at[strlen(line)] == '#';
	free(text);
	return found;
}

/* Appends the step to the trace, which gives it its number; false when there is none. */
static bool trace(const char *call, const char *subject, char label[LABEL_MAX])
{
	char words[40], base[LABEL_MAX - 20];
	int fd = raw_open("trace", O_RDWR | O_APPEND);

	if (fd < 0)
		return false;
	program_words(words, sizeof(words));
	snprintf(base, sizeof(base), "%s:%s:%.120s", words, call, subject);
	flock(fd, LOCK_EX);
	snprintf(label, LABEL_MAX, "%s#%u", base, count_lines(fd, base) + 1);
	raw_write(fd, label);
	raw_write(fd, "\n");
	close(fd);
	return true;
}

/* --- actions --- */

static void order(const char *verb)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *dir = getenv("PMFAULT");
	const char *node = strrchr(dir, '/') + 1;
	char text[300];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%.80s/../run/orders", dir);
	snprintf(text, sizeof(text), "%s %.255s", verb, node);
	(void)!sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

static void hold(void)
{
	char buf[PATH_MAX];
	const char *path = own_path("held", buf);
	int fd = raw_open("held", O_WRONLY | O_CREAT);

	close(fd);
	for (int i = 0; i < HOLD_STEPS && !access(path, F_OK); i++)
		usleep(HOLD_US);
}

/* Without writing back what only memory holds; the console, outside of the machine, is told. */
static void reset_machine(void)
{
	int log = (int)syscall(SYS_openat, AT_FDCWD, "/dev/kmsg", O_WRONLY | O_CLOEXEC);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

	raw_write(log, "<0>pmfault: reset\n");
	raw_write(fd, "b");
	for (;;)
		pause();
}

/* A plan is carried out once: `plan` becomes `fired`. */
static void fire(const struct plan *plan)
{
	char from[PATH_MAX], to[PATH_MAX];

	syscall(SYS_rename, own_path("plan", from), own_path("fired", to));
	if (!strcmp(plan->action, "hold"))
		return hold();
	if (!strcmp(plan->action, "reset"))
		reset_machine();
	order(!strcmp(plan->action, "power") ? "reboot" : "restart");
	while (!strcmp(plan->action, "power"))
		pause();
}

static void step_if(const char *when, const char *label)
{
	struct plan plan;

	if (*label && read_plan(&plan) && !strcmp(plan.when, when) && !strcmp(plan.label, label))
		fire(&plan);
}

/* A failing disk: its plan stays, and what it does begins when its label is in the trace. */
static bool fails(const char *path, bool needs_space)
{
	struct plan plan;
	char buf[PATH_MAX];
	int code;

	if (!read_plan(&plan) || sscanf(plan.action, "errno=%d", &code) != 1 ||
		strncmp(path, plan.folder, strlen(plan.folder)))
		return false;
	if (strcmp(plan.label, "*") && access(own_path("fired", buf), F_OK))
		return false;
	if (code == ENOSPC && !needs_space)
		return false;
	close(raw_open("fired", O_WRONLY | O_CREAT));
	errno = code;
	return true;
}

static void begin_failing(const char *label)
{
	struct plan plan;

	if (*label && read_plan(&plan) && !strcmp(plan.when, "from") && !strcmp(plan.label, label))
		close(raw_open("fired", O_WRONLY | O_CREAT));
}

/* --- the calls --- */

static void path_of(int fd, char ret[PATH_MAX])
{
	char link[40];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, ret, PATH_MAX - 1);
	ret[length < 0 ? 0 : length] = '\0';
}

static void before(const char *call, const char *path, char label[LABEL_MAX])
{
	char subject[256];

	*label = '\0';
	if (!getenv("PMFAULT"))
		return;
	subject_of(path, subject, sizeof(subject));
	if (!trace(call, subject, label))
		*label = '\0';
	begin_failing(label);
	step_if("before", label);
}

/* The start of a program is a step of its own: the prolog's may have no other. */
__attribute__((constructor)) static void begin(void)
{
	char label[LABEL_MAX];

	before("start", "", label);
}

/* What a change on disk does: the step, unless the disk fails it. */
#define STEP(call_, path_, needs_space_, run_)                                                     \
	({                                                                                         \
		char label_[LABEL_MAX];                                                            \
		__typeof__(run_) rc_ = -1;                                                         \
		int errno_;                                                                        \
		before(call_, path_, label_);                                                      \
		if (!fails(path_, needs_space_))                                                   \
			rc_ = run_;                                                                \
		errno_ = errno;                                                                    \
		step_if("after", label_);                                                          \
		errno = errno_;                                                                    \
		rc_;                                                                               \
	})

int rename(const char *from, const char *to)
{
	return STEP("rename", to, false, NEXT(rename)(from, to));
}

int unlink(const char *path)
{
	if (access(path, F_OK))
		return NEXT(unlink)(path);
	return STEP("unlink", path, false, NEXT(unlink)(path));
}

int mkdir(const char *path, mode_t mode)
{
	if (!access(path, F_OK))
		return NEXT(mkdir)(path, mode);
	return STEP("mkdir", path, true, NEXT(mkdir)(path, mode));
}

int mkostemp(char *template, int flags)
{
	return STEP("make", template, false, NEXT(mkostemp)(template, flags));
}

int fsync(int fd)
{
	char path[PATH_MAX];

	path_of(fd, path);
	return STEP("sync", path, true, NEXT(fsync)(fd));
}

ssize_t write(int fd, const void *data, size_t length)
{
	char path[PATH_MAX];

	path_of(fd, path);
	return fails(path, true) ? -1 : NEXT(write)(fd, data, length);
}

/* The lock's signature, and the shim's writes to a DIMM. */
ssize_t pwrite(int fd, const void *data, size_t length, off_t at)
{
	char path[PATH_MAX];

	path_of(fd, path);
	return STEP("pwrite", path, true, NEXT(pwrite)(fd, data, length, at));
}

int open(const char *path, int flags, ...)
{
	bool may_make = flags & O_CREAT;
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	if (!may_make || !getenv("PMFAULT"))
		return NEXT(open)(path, flags, mode);
	return STEP("open", path, false, NEXT(open)(path, flags, mode));
}

/* Tools that only look are no steps. */
static bool changes(char *const *argv)
{
	static const char *const looks[] = {"show", "list", "version"};

	for (size_t i = 0; argv[0] && argv[1] && i < sizeof(looks) / sizeof(looks[0]); i++)
		if (!strcmp(argv[1], looks[i]))
			return false;
	return true;
}

/* "ipmctl create -goal ..." */
static void command_line(char *const *argv, char *ret, size_t size)
{
	subject_of(argv[0], ret, size);
	for (size_t i = 1; argv[i]; i++) {
		size_t length = strlen(ret);

		snprintf(ret + length, size - length, " %s", argv[i]);
	}
	for (char *at = ret; *at; at++)
		*at = *at == '/' || *at == ':' ? '_' : *at;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
	char line[160], label[LABEL_MAX];
	int rc;

	if (!changes(argv))
		return NEXT(posix_spawn)(pid, path, actions, attr, argv, envp);
	command_line(argv, line, sizeof(line));
	before("run", line, label);
	rc = NEXT(posix_spawn)(pid, path, actions, attr, argv, envp);
	step_if("after", label);
	return rc;
}
