/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/apply/preload.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

/* A minimal ELF file: its header, and one program header of this type. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr row;
};

static const char *write_image(const char *name, unsigned char class, unsigned type, int of_others)
{
	struct image image = {.header = {.e_phnum = 1,
				      .e_phentsize = sizeof(image.row),
				      .e_phoff = offsetof(struct image, row)},
		.row = {.p_type = type}};
	const char *path = scratch_file(name, "");
	FILE *own = fopen("/proc/self/exe", "rb");
	Elf64_Ehdr ours;

	if (!own || fread(&ours, sizeof(ours), 1, own) != 1)
		exit(1);
	fclose(own);
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = class;
	image.header.e_machine = of_others ? ours.e_machine + 1 : ours.e_machine;
	if (pm_file_write(path, 0755, (const char *)&image, sizeof(image), NULL))
		exit(1);
	return path;
}

static const char *script(const char *name, const char *interpreter)
{
	char text[600];
	const char *path;

	snprintf(text, sizeof(text), "#! %s -e\n:\n", interpreter);
	path = scratch_file(name, text);
	chmod(path, 0755);
	return path;
}

static void test_obstacles(void)
{
	const char *dynamic = write_image("dynamic", ELFCLASS64, PT_INTERP, 0);
	const char *fixed = write_image("static", ELFCLASS64, PT_LOAD, 0);

	is_text(pm_preload_obstacle("/proc/self/exe"), NULL, "this very program takes one");
	is_text(pm_preload_obstacle(dynamic), NULL, "so does one with a loader");
	has_text(pm_preload_obstacle(fixed), "static", "one without does not");
	has_text(pm_preload_obstacle(write_image("foreign", ELFCLASS64, PT_INTERP, 1)), "processor",
		"nor one of another processor");
	has_text(pm_preload_obstacle(write_image("narrow", ELFCLASS32, PT_INTERP, 0)), "processor",
		"nor one of 32 bits");
	is_text(pm_preload_obstacle(script("script", dynamic)), NULL,
		"a script of a shell takes one");
	has_text(pm_preload_obstacle(script("script2", fixed)), "static",
		"a script's interpreter counts");
	has_text(pm_preload_obstacle(script("script3", scratch_path("script2"))), "static",
		"and the interpreter's");
	(void)script("round", scratch_path("round"));
	is_text(pm_preload_obstacle(scratch_path("round")), NULL, "a circle has an end");
	is_text(pm_preload_obstacle(scratch_file("empty", "")), NULL,
		"an empty file tells nothing");
	is_text(pm_preload_obstacle("/nonexistent"), NULL, "nor does none");
}

/* As root the files belong to root: only their group can differ. */
static void test_rights(void)
{
	const char *path = write_image("rights", ELFCLASS64, PT_INTERP, 0);

	chmod(path, 06755);
	is_text(pm_preload_obstacle(path), NULL, "one's own rights are no others");
	if (geteuid() || chown(path, 1234, 1234) || chmod(path, 04755)) {
		ok(true, "not root: no foreign files # skip");
		return;
	}
	has_text(pm_preload_obstacle(path), "setuid", "those of another are");
	chmod(path, 02755);
	has_text(pm_preload_obstacle(path), "setuid", "those of another group too");
	chmod(path, 02644);
	is_text(pm_preload_obstacle(path), NULL, "without a group's x it is another thing");
}

static void test_asked(void)
{
	is_text(pm_preload_asked(NULL, false), NULL, "none by default");
	is_text(pm_preload_asked(NULL, true), "place", "our own for what only it does");
	is_text(pm_preload_asked("hmem", true), "hmem", "but a name is a name");
	is_text(pm_preload_asked("none", true), NULL, "and none is none");
}

static void test_find(void)
{
	struct pm_err err = {0};
	char *path = NULL;

	is_number(pm_preload_find("nothing-here", &path, &err), -ENOENT, "a name without a file");
	has_text(err.text, PM_RUNTIMEDIR "/libpmnothing-here.so",
		"is told with where it was sought");
	is_number(pm_preload_find(scratch_file("a b.so", ""), &path, &err), -EINVAL,
		"what LD_PRELOAD would split");
	is_number(pm_preload_find(scratch_file("x.so", ""), &path, &err), 0, "a file");
	has_text(path, "/x.so", "by its path");
	free(path);
}

static void test_prepend(void)
{
	char *text = pm_preload_prepend("/a.so", NULL);

	is_text(text, "/a.so", "alone");
	free(text);
	text = pm_preload_prepend("/a.so", "");
	is_text(text, "/a.so", "before nothing");
	free(text);
	text = pm_preload_prepend("/a.so", "/b.so /c.so");
	is_text(text, "/a.so:/b.so /c.so", "before others");
	free(text);
}

int main(void)
{
	test_obstacles();
	test_rights();
	test_asked();
	test_find();
	test_prepend();
	return tap_done();
}
