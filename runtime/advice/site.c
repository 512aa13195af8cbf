/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/advice/site.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <unwind.h>

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)
#define DEPTH_MAX 64 /* frames of this library and of the program together */

static char program[PATH_MAX];

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *byte = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * FNV_PRIME;
	return hash;
}

/* --- files --- */

static uint64_t align4(uint64_t bytes)
{
	return (bytes + 3) & ~UINT64_C(3);
}

/* First eight bytes of NT_GNU_BUILD_ID in the notes of a segment, elf(5); 0: none. */
static uint64_t build_in_notes(const char *note, const char *end)
{
	while (note + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *head = (const void *)note;
		const char *name = note + sizeof(*head), *id = name + align4(head->n_namesz);
		uint64_t build;

		if (head->n_type == NT_GNU_BUILD_ID && head->n_descsz >= sizeof(build) &&
			!memcmp(name, "GNU", 4)) {
			memcpy(&build, id, sizeof(build));
			return build;
		}
		note = id + align4(head->n_descsz);
	}
	return 0;
}

/*
 * Build of a loaded file, from its ELF headers, which its first segment maps. Without a build ID,
 * the hash of its name.
 */
static uint64_t build_of(const char *start, uintptr_t load, const char *file)
{
	const ElfW(Ehdr) *elf = (const void *)start;
	const ElfW(Phdr) *segment = (const void *)(start + elf->e_phoff);
	const char *name = strrchr(file, '/');
	uint64_t build = 0;

	if (memcmp(elf->e_ident, ELFMAG, SELFMAG))
		return 0;
	for (int i = 0; i < elf->e_phnum && !build; i++)
		if (segment[i].p_type == PT_NOTE)
			build = build_in_notes((const char *)load + segment[i].p_vaddr,
				(const char *)load + segment[i].p_vaddr + segment[i].p_memsz);
	name = name ? name + 1 : file;
	return build ? build : mix(FNV_BASIS, name, strlen(name));
}

/* The loader's name of the program itself is empty. */
static const char *name_of(const struct link_map *map)
{
	return *map->l_name ? map->l_name : program;
}

static struct pm_frame frame_at(const struct dl_find_object *found, uintptr_t address)
{
	const struct link_map *map = found->dlfo_link_map;
	const char *file = name_of(map);

	return (struct pm_frame){.build = build_of(found->dlfo_map_start, map->l_addr, file),
		.offset = address - map->l_addr,
		.file = file};
}

struct pm_frame pm_site_program(void)
{
	uintptr_t entry = getauxval(AT_ENTRY);
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	struct dl_find_object found;

	program[n > 0 ? n : 0] = '\0';
	if (_dl_find_object((void *)entry, &found))
		return (struct pm_frame){.file = program};
	return frame_at(&found, entry);
}

/* --- frames --- */

/* `ours` is this library's own link map, found at the first frame. Its frames are left out. */
struct walk {
	struct pm_site site;
	const struct link_map *ours;
	unsigned n_max;
	bool (*is_known)(uint64_t key); /* NULL: all frames are asked for */
	int depth;
};

/* Adds a frame to a key of the frames before it. */
static uint64_t add_to_key(uint64_t key, const struct pm_frame *frame)
{
	key = mix(key, &frame->build, sizeof(key));
	return mix(key, &frame->offset, sizeof(key));
}

/* True: the site has the frames that were asked for. */
static bool add_frame(struct walk *walk, struct pm_frame frame)
{
	struct pm_site *site = &walk->site;

	site->frames[site->n] = frame;
	site->key = add_to_key(site->n ? site->key : FNV_BASIS, &frame);
	site->n++;
	return site->n == walk->n_max ||
	       (walk->is_known && site->n >= PM_SITE_LEAST && walk->is_known(site->key));
}

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	uintptr_t address = _Unwind_GetIP(context);
	struct dl_find_object found;

	walk->depth++;
	if (_dl_find_object((void *)address, &found))
		return _URC_END_OF_STACK;
	if (!walk->ours)
		walk->ours = found.dlfo_link_map;
	if (found.dlfo_link_map != walk->ours && add_frame(walk, frame_at(&found, address)))
		return _URC_END_OF_STACK;
	return walk->depth == DEPTH_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

struct pm_site pm_site_capture(unsigned n)
{
	struct walk walk = {.n_max = n};

	(void)_Unwind_Backtrace(visit_frame, &walk);
	return walk.site;
}

uint64_t pm_site_find(bool (*is_known)(uint64_t key))
{
	struct walk walk = {.n_max = PM_SITE_FRAMES, .is_known = is_known};

	(void)_Unwind_Backtrace(visit_frame, &walk);
	return walk.site.key;
}

bool pm_site_resolve(const void *address, struct pm_frame *ret)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)address, &found))
		return false;
	*ret = frame_at(&found, (uintptr_t)address);
	return true;
}

uint64_t pm_site_key(const struct pm_frame *frames, unsigned n)
{
	uint64_t key = FNV_BASIS;

	for (unsigned i = 0; i < n; i++)
		key = add_to_key(key, &frames[i]);
	return key;
}
