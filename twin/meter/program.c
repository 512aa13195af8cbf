/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin for qemu-x86_64: counts exactly the traffic of each object of a program, behind a model
 * of a first-level and of a last-level cache. Arguments: out=FILE       table of objects, one line
 * each, made at the program's end; ".PID" is added cache=BYTES:WAYS  the last-level cache
 *   first=BYTES:WAYS  the first-level cache, which only tells what misses it
 *   epoch=N        accesses in an epoch, in which a page counts once as accessed and once as
 * written marks=on       counts between the marks of instructions.h only
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "twin/meter/allocation_calls.h"
#include "twin/meter/cache.h"
#include "twin/meter/instructions.h"
#include "twin/meter/objects.h"
#include "twin/meter/qemu_plugin.h"

#define USER_BITS     47
#define DEFAULT_EPOCH 2000000
#define THREADS_MAX                                                                                \
	4096 /* of a program, ever; later ones are counted with the meter's own work               \
	      */

int qemu_plugin_version = 1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads of the program are threads */
static struct pm_cache first_cache, last_cache;
static uint64_t accesses, epoch_accesses = DEFAULT_EPOCH;
static bool is_counting = true, has_marks, is_paused[THREADS_MAX];
static const char *out;

static void count_page(struct pm_object_page *page, struct pm_object *object, bool is_store)
{
	uint32_t epoch = 1 + accesses / epoch_accesses;

	if (page->accessed != epoch) {
		page->accessed = epoch;
		object->accessed_pages++;
	}
	if (is_store && page->written != epoch) {
		page->written = epoch;
		object->written_pages++;
	}
}

static void write_back(const struct pm_cache_line *line)
{
	if (line->tag && line->is_dirty)
		pm_object(line->owner)->written_back++;
}

static void count_line(uint64_t line, uint32_t number, bool is_store)
{
	struct pm_object *object = pm_object(number);
	struct pm_cache_line evicted;

	if (!pm_cache_access(&first_cache, line, number, is_store, &evicted))
		*(is_store ? &object->store_misses : &object->load_misses) += 1;
	if (pm_cache_access(&last_cache, line, number, is_store, &evicted))
		return;
	*(is_store ? &object->store_fills : &object->load_fills) += 1;
	write_back(&evicted);
}

/* A store past the caches: they give up the line. */
static void count_nontemporal(uint64_t line, struct pm_object *object, uint64_t bytes)
{
	struct pm_cache_line evicted = pm_cache_take(&last_cache, line);

	pm_cache_take(&first_cache, line);
	write_back(&evicted);
	object->nontemporal += bytes;
}

static void count(qemu_plugin_meminfo_t info, uint64_t address, bool is_nontemporal)
{
	bool is_store = qemu_plugin_mem_is_store(info);
	uint64_t bytes = (uint64_t)1 << qemu_plugin_mem_size_shift(info),
		 last = address + bytes - 1;
	struct pm_object_page *page = pm_objects_page(address);
	uint32_t number = pm_object_in(page, address);
	struct pm_object *object = pm_object(number);

	accesses++;
	*(is_store ? &object->stored : &object->loaded) += bytes;
	if (number)
		count_page(page, object, is_store);
	if (is_nontemporal && is_store) {
		count_nontemporal(address >> PM_LINE_SHIFT, object, bytes);
		return;
	}
	count_line(address >> PM_LINE_SHIFT, number, is_store);
	if (last >> PM_LINE_SHIFT != address >> PM_LINE_SHIFT)
		count_line(last >> PM_LINE_SHIFT, number, is_store);
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	if (!is_counting || address >> USER_BITS || (vcpu < THREADS_MAX && is_paused[vcpu]))
		return;
	pthread_mutex_lock(&lock);
	count(info, address, data != NULL);
	pthread_mutex_unlock(&lock);
}

static void on_mark(unsigned vcpu, void *data)
{
	enum pm_mark mark = (uintptr_t)data;

	if (mark == PM_MARK_PAUSE || mark == PM_MARK_RESUME) {
		if (vcpu < THREADS_MAX)
			is_paused[vcpu] = mark == PM_MARK_PAUSE;
	} else if (has_marks) {
		is_counting = mark == PM_MARK_BEGIN;
	}
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static char yes;

	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);
		size_t bytes = qemu_plugin_insn_size(insn);
		enum pm_mark mark = pm_mark_of(code, bytes);

		if (mark != PM_MARK_NONE)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)mark);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
			QEMU_PLUGIN_MEM_RW, pm_is_nontemporal_store(code, bytes) ? &yes : NULL);
	}
}

static void on_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t address,
	uint64_t bytes, uint64_t site, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
	uint64_t a8)
{
	(void)id, (void)vcpu, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
	if (number != PM_METER_ALLOCATED && number != PM_METER_FREED)
		return;
	pthread_mutex_lock(&lock);
	if (number == PM_METER_ALLOCATED)
		pm_objects_add(address, bytes, site, accesses);
	else
		pm_objects_remove(address, accesses);
	pthread_mutex_unlock(&lock);
}

static void print_object(FILE *file, const struct pm_object *o)
{
	const uint64_t columns[] = {o->bytes, o->allocated, o->freed, o->allocated_at, o->freed_at,
		o->loaded, o->stored, o->load_fills, o->store_fills, o->written_back,
		o->nontemporal, o->accessed_pages, o->written_pages, o->load_misses,
		o->store_misses};

	fprintf(file, "%016" PRIx64, o->site);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		fprintf(file, ",%" PRIu64, columns[i]);
	fputc('\n', file);
}

static void flush(void)
{
	for (uint64_t i = 0; i < last_cache.sets * last_cache.ways; i++)
		write_back(last_cache.lines + i);
}

static void on_exit_of_program(qemu_plugin_id_t id, void *data)
{
	char name[4096];
	FILE *file;

	(void)id, (void)data;
	snprintf(name, sizeof(name), "%s.%d", out, (int)getpid());
	file = fopen(name, "w");
	if (!file) {
		fprintf(stderr, "pmmeter: open '%s': %m\n", name);
		return;
	}
	flush();
	fputs("site,size,sa,sf,ta,tf,rawr,raww,fillr,fillw,wb,nt,ref1,wr1,l1r,l1w\n", file);
	for (uint32_t i = 0; i < pm_objects_count(); i++)
		print_object(file, pm_object(i));
	if (fclose(file))
		fprintf(stderr, "pmmeter: write '%s': %m\n", name);
}

struct size {
	size_t bytes;
	unsigned ways;
};

static bool take_argument(char *argument, struct size *last, struct size *first)
{
	if (!strncmp(argument, "out=", 4))
		return (out = strdup(argument + 4)) != NULL;
	if (!strncmp(argument, "epoch=", 6))
		return (epoch_accesses = strtoull(argument + 6, NULL, 10)) > 0;
	if (!strcmp(argument, "marks=on")) {
		has_marks = true;
		is_counting = false;
		return true;
	}
	return sscanf(argument, "cache=%zu:%u", &last->bytes, &last->ways) == 2 ||
	       sscanf(argument, "first=%zu:%u", &first->bytes, &first->ways) == 2;
}

static bool make_cache(struct pm_cache *cache, struct size size)
{
	if (pm_cache_init(cache, size.bytes, size.ways))
		return true;
	fprintf(stderr,
		"pmmeter: no cache of %zu bytes with %u ways: a way has a power of two lines of 64 "
		"bytes\n",
		size.bytes, size.ways);
	return false;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	struct size last = {512 << 10, 8}, first = {48 << 10, 12}; /* Ice Lake's first level */

	for (int i = 0; i < argc; i++)
		if (!take_argument(argv[i], &last, &first)) {
			fprintf(stderr, "pmmeter: the plugin has no argument '%s'\n", argv[i]);
			return 1;
		}
	if (info->system_emulation || !out) {
		fprintf(stderr, "pmmeter: this plugin is for qemu-x86_64, with out=FILE\n");
		return 1;
	}
	if (!make_cache(&last_cache, last) || !make_cache(&first_cache, first))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_call);
	qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
	return 0;
}
