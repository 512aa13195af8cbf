/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/stream/referenced.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

struct search {
	const char *function;
	bool found;
};

struct table {
	const Elf64_Rela *rows;
	size_t bytes, skipped; /* the first ones, of which none has a symbol: DT_RELACOUNT */
};

/* The parts of a dynamic section that matter here. */
struct object {
	const Elf64_Sym *symbols;
	const char *names;
	struct table relocations, jumps;
};

/* The loader adds the base to addresses in the section, but not in the kernel's vDSO. */
static const void *address(const struct dl_phdr_info *info, Elf64_Addr value)
{
	return (const void *)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static void take(const struct dl_phdr_info *info, const Elf64_Dyn *entry, struct object *object)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		object->symbols = address(info, entry->d_un.d_ptr);
		break;
	case DT_STRTAB:
		object->names = address(info, entry->d_un.d_ptr);
		break;
	case DT_RELA:
		object->relocations.rows = address(info, entry->d_un.d_ptr);
		break;
	case DT_RELASZ:
		object->relocations.bytes = entry->d_un.d_val;
		break;
	case DT_RELACOUNT:
		object->relocations.skipped = entry->d_un.d_val;
		break;
	case DT_JMPREL:
		object->jumps.rows = address(info, entry->d_un.d_ptr);
		break;
	case DT_PLTRELSZ:
		object->jumps.bytes = entry->d_un.d_val;
		break;
	default:
		break;
	}
}

static bool has(const struct object *object, const struct table *table, const char *function)
{
	for (size_t i = table->skipped; table->rows && i < table->bytes / sizeof(*table->rows);
		i++) {
		size_t symbol = ELF64_R_SYM(table->rows[i].r_info);

		if (symbol && !strcmp(object->names + object->symbols[symbol].st_name, function))
			return true;
	}
	return false;
}

static const Elf64_Dyn *dynamic_section(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	const Elf64_Dyn *entry = dynamic_section(info);
	struct search *search = context;
	struct object object = {0};

	(void)size;
	for (; entry && entry->d_tag != DT_NULL; entry++)
		take(info, entry, &object);
	if (object.symbols && object.names)
		search->found = has(&object, &object.relocations, search->function) ||
				has(&object, &object.jumps, search->function);
	return search->found;
}

bool pm_is_referenced(const char *function)
{
	struct search search = {.function = function};

	dl_iterate_phdr(look, &search);
	return search.found;
}
