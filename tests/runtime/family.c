/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each allocation function of the C library, as malloc(3), posix_memalign(3) and glibc's manual
 * describe them, from where programs call them: constructors, threads, children, and at exit. The
 * same program passes with glibc alone; tests/runtime/runtime.bats runs it with each configuration.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/pmplace.h"
#include "tests/unit/tap.h"

#define MIB ((size_t)1 << 20)

/* Compilers may remove unused allocations, and warn about impossible sizes. */
static void *volatile kept;
static volatile size_t huge = SIZE_MAX - 64;
static char untouched;

static const size_t sizes[] = {
	0, 1, 8, 16, 100, 4096, 65535, 65536, 65537, MIB - 1, MIB, MIB + 1, 3 * MIB + 5, 17 * MIB};

static unsigned char pattern(size_t i)
{
	return (unsigned char)(i * 7 + 1);
}

static void fill(unsigned char *object, size_t size)
{
	for (size_t i = 0; i < size; i += i < 64 || i + 64 > size ? 1 : 509)
		object[i] = pattern(i);
}

static bool is_filled(const unsigned char *object, size_t size)
{
	for (size_t i = 0; i < size && i < 64; i++)
		if (object[i] != pattern(i))
			return false;
	return true;
}

/* realloc() through a pointer that compilers know nothing about. */
static __attribute__((noinline)) void *resized(void *object, size_t size)
{
	return realloc(object, size);
}

static bool is_zero(const unsigned char *object, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (object[i])
			return false;
	return true;
}

/* Checks alignment, writes to all usable bytes, frees. */
static bool is_good(void *object, size_t size, size_t align)
{
	size_t usable = malloc_usable_size(object);

	if (!object || usable < size || (uintptr_t)object % align)
		return false;
	memset(object, 0xA5, usable);
	free(object);
	return true;
}

static void test_sizes(void)
{
	FOR_EACH(size, sizes)
	{
		size_t least = *size >= 16 ? 16 : 8;
		void *object = NULL;

		ok(is_good(malloc(*size), *size, least), "malloc(%zu)", *size);
		ok(is_good(calloc(1, *size), *size, least), "calloc(1, %zu)", *size);
		ok(is_good(realloc(NULL, *size), *size, least), "realloc(NULL, %zu)", *size);
		ok(is_good(reallocarray(NULL, *size, 3), *size * 3, least), "reallocarray, %zu",
			*size);
		ok(is_good(valloc(*size), *size, 4096), "valloc(%zu)", *size);
		ok(is_good(pvalloc(*size), (*size + 4095) / 4096 * 4096, 4096), "pvalloc(%zu)",
			*size);
		for (size_t align = 8; align <= 8 * MIB; align *= 4) {
			ok(is_good(memalign(align, *size), *size, align), "memalign(%zu, %zu)",
				align, *size);
			ok(is_good(aligned_alloc(align, *size), *size, align),
				"aligned_alloc(%zu, %zu)", align, *size);
			ok(!posix_memalign(&object, align, *size) && is_good(object, *size, align),
				"posix_memalign(%zu, %zu)", align, *size);
		}
	}
}

static void test_calloc(void)
{
	FOR_EACH(size, sizes)
	{
		bool clean = true;

		for (int round = 0; round < 3; round++) {
			unsigned char *object = calloc(*size, 1);

			clean &= is_zero(object, *size);
			memset(object, 0xFF, *size);
			free(object);
		}
		ok(clean, "calloc of %zu is zero where others have been", *size);
	}
}

static void test_realloc(void)
{
	FOR_EACH(from, sizes)
	{
		bool good = true;

		FOR_EACH(to, sizes)
		{
			unsigned char *object = malloc(*from), *changed;

			fill(object, *from);
			changed = resized(object, *to ? *to : 1);
			good &= changed && is_filled(changed, *from < *to ? *from : *to);
			free(changed);
		}
		ok(good, "realloc from %zu to other sizes keeps what is there", *from);
	}
	kept = malloc(10);
	kept = resized(kept, 0);
	ok(!kept, "realloc(p, 0) frees");
	kept = malloc(5 * MIB);
	kept = resized(kept, 0);
	ok(!kept, "a large object, too");
}

/* C23, 7.24.3, not in glibc 2.36; and a function that programs built before glibc 2.26 call. */
__attribute__((weak)) void free_sized(void *object, size_t size);
__attribute__((weak)) void free_aligned_sized(void *object, size_t align, size_t size);
__attribute__((weak)) void cfree(void *object);

static void *filled(void *object, size_t size)
{
	fill(object, size);
	return object;
}

static void give_sized(size_t size)
{
	free_sized(filled(malloc(size), size), size);
	free_sized(filled(calloc(1, size), size), size);
	free_aligned_sized(filled(aligned_alloc(256, size), size), 256, size);
	cfree(filled(malloc(size), size));
}

static long most_resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void test_sized(void)
{
	long before = most_resident_kib();

	ok(!free_sized == !free_aligned_sized && cfree, "sized frees are both there, or none");
	if (!free_sized)
		return;
	for (int round = 0; round < 16; round++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			give_sized(sizes[i]);
	free_sized(NULL, 0);
	ok(most_resident_kib() - before < 200 << 10, "and give back what they should");
}

/* Grows step by step to 64 MiB; another object in between prevents growing in place. */
static void test_growth(void)
{
	unsigned char *object = malloc(1000);
	size_t size = 1000;
	bool good = true;

	fill(object, size);
	while (size < 64 * MIB) {
		void *between = malloc(size);

		size += size / 2;
		object = resized(object, size);
		good &= object && is_filled(object, 1000);
		fill(object, size);
		free(between);
	}
	ok(good, "an object that grows keeps what is there");
	while (size > 1000) {
		size -= size / 3;
		object = resized(object, size);
		good &= object && is_filled(object, size);
	}
	ok(good, "and when it shrinks");
	free(object);
}

static void test_errors(void)
{
	void *object = &untouched, *other;

	errno = 0;
	kept = malloc(huge);
	ok(!kept && errno == ENOMEM, "malloc of too much: ENOMEM");
	errno = 0;
	kept = calloc(huge, 2);
	ok(!kept && errno == ENOMEM, "calloc of a product that overflows: ENOMEM");
	errno = 0;
	kept = reallocarray(NULL, huge, 2);
	ok(!kept && errno == ENOMEM, "reallocarray of one: ENOMEM");
	errno = 0;
	kept = memalign(64, huge);
	ok(!kept && errno == ENOMEM, "memalign of too much: ENOMEM");
	errno = 0;
	kept = pvalloc(huge);
	ok(!kept && errno == ENOMEM, "pvalloc of too much: ENOMEM");
	ok(posix_memalign(&object, 3, 8) == EINVAL && object == &untouched,
		"posix_memalign of no power of two: EINVAL");
	ok(posix_memalign(&object, 0, 8) == EINVAL, "nor of nothing");
	ok(posix_memalign(&object, 64, huge) == ENOMEM && object == &untouched,
		"posix_memalign of too much: ENOMEM, and nothing else");
	kept = malloc(100);
	other = resized(kept, huge);
	ok(!other && is_good(kept, 100, 16), "realloc that fails leaves it");
	ok(is_good(memalign(48, 100), 100, 64), "memalign rounds its alignment up");
	free(NULL);
	ok(!malloc_usable_size(NULL), "NULL has no size");
}

static void test_errno(void)
{
	FOR_EACH(size, sizes)
	{
		kept = malloc(*size);
		errno = 4711;
		free(kept);
		ok(errno == 4711, "free of %zu keeps errno", *size);
	}
}

/* --- threads --- */

#define THREADS 64
#define SLOTS	512
#define ROUNDS	20000

static void *_Atomic slots[SLOTS];
static _Atomic unsigned spoiled;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* An object with its size, and a mark at both ends. */
static void *make_marked(uint32_t random)
{
	size_t size = 32 + (random % 64 ? random % 3000 : random % (3 * MIB));
	size_t *object = random % 7 ? malloc(size) : memalign(64, size);

	object[0] = size;
	memcpy((char *)object + size - 8, &size, 8);
	return object;
}

static void check_marked(void *object)
{
	size_t size = *(size_t *)object, end;

	memcpy(&end, (char *)object + size - 8, 8);
	spoiled += end != size;
}

/* Exchanges an object of its own for one of another thread. */
static void *exchange(void *argument)
{
	uint32_t state = (uint32_t)(uintptr_t)argument;

	for (int i = 0; i < ROUNDS / THREADS * 4; i++) {
		uint32_t random = next_random(&state);
		void *found = __atomic_exchange_n(
			(void **)&slots[random % SLOTS], make_marked(random), __ATOMIC_ACQ_REL);

		if (found) {
			check_marked(found);
			free(found);
		}
	}
	if (state % 2)
		pthread_exit(NULL);
	return NULL;
}

static void run_threads(void *(*function)(void *), unsigned n)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, function, (void *)(uintptr_t)(i + 1));
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void empty_slots(void)
{
	for (int i = 0; i < SLOTS; i++) {
		if (slots[i])
			check_marked(slots[i]);
		free(slots[i]);
		slots[i] = NULL;
	}
}

static void test_threads(void)
{
	run_threads(exchange, THREADS);
	empty_slots();
	is_number(spoiled, 0, "64 threads that free each other's objects spoil none");
}

/* --- cancelling: no allocation function is a cancellation point, pthreads(7) --- */

static volatile bool has_come_through;

static void *allocate_when_cancelled(void *argument)
{
	void *objects[200];

	(void)argument;
	pthread_cancel(pthread_self());
	for (int i = 0; i < 200; i++)
		objects[i] = malloc((size_t)300 << 10);
	for (int i = 0; i < 200; i++)
		free(objects[i]);
	for (int i = 0; i < 5000; i++)
		free(resized(malloc((size_t)400 << 10), MIB));
	has_come_through = true;
	pthread_testcancel();
	return NULL;
}

static void test_cancel(void)
{
	run_threads(allocate_when_cancelled, 1);
	ok(has_come_through, "a thread that is to be cancelled is not so while it allocates");
	kept = malloc(3 * MIB);
	ok(kept, "and leaves no lock");
	free(kept);
}

/* --- children --- */

static int end_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

static void work_in_child(void)
{
	uint32_t state = 5;

	for (int i = 0; i < 300; i++) {
		void *object = make_marked(next_random(&state));

		check_marked(object);
		free(object);
	}
}

static void *fork_often(void *argument)
{
	(void)argument;
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		if (!child) {
			work_in_child();
			_exit(spoiled ? 1 : 0);
		}
		if (end_of(child))
			spoiled++;
	}
	return NULL;
}

static void *fork_or_exchange(void *argument)
{
	return (uintptr_t)argument % 4 ? exchange(argument) : fork_often(argument);
}

/* Large objects, one after the other, so that their lock is held half of the time. */
static void *take_large(void *argument)
{
	while (!*(atomic_bool *)argument) {
		void *object = malloc(3 * MIB);

		*(volatile char *)object = 1;
		free(object);
	}
	return NULL;
}

/* The alarm ends a child that waits for a lock that no thread will release. */
static int fork_once(void)
{
	pid_t child = fork();

	if (!child) {
		alarm(20);
		free(resized(malloc(2 * MIB), 4 * MIB));
		_exit(0);
	}
	return end_of(child);
}

static void test_fork_while_locked(void)
{
	atomic_bool stop = false;
	pthread_t threads[3];
	int status = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, take_large, &stop);
	for (int i = 0; i < 60 && !status; i++)
		status = fork_once();
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	is_number(status, 0, "nor is anything locked in children");
}

static void test_fork(void)
{
	unsigned char *before = malloc(5 * MIB);

	fill(before, 5 * MIB);
	run_threads(fork_or_exchange, 8);
	empty_slots();
	is_number(spoiled, 0, "children that are forked while threads allocate can allocate");
	if (!fork()) {
		before = resized(before, 9 * MIB);
		_exit(before && is_filled(before, 5 * MIB) ? 0 : 1);
	}
	is_number(end_of(-1), 0, "a child resizes what its parent has allocated");
	ok(is_filled(before, 5 * MIB), "and the parent's is as it was");
	free(before);
}

/* --- libraries; objects of other allocators --- */

static void test_libraries(void)
{
	void *library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL), *deep;

	ok(library && !dlclose(library), "a library is loaded and unloaded");
	kept = dlopen("/nonexistent.so", RTLD_NOW);
	ok(!kept && strstr(dlerror(), "nonexistent"), "one that is not there is told of");
	deep = dlsym(RTLD_DEFAULT, "malloc");
	ok(deep != NULL, "malloc is found by its name");
}

void *__libc_malloc(size_t size);

/* As objects of a library bound to glibc's malloc, or from before the runtime's start. */
static void test_foreign(void)
{
	unsigned char *object = __libc_malloc(1000);

	fill(object, 1000);
	ok(malloc_usable_size(object) >= 1000, "the size of an object of glibc's");
	object = resized(object, 2 * MIB);
	ok(object && is_filled(object, 1000), "it is resized");
	free(object);
	kept = __libc_malloc(3 * MIB);
	free(kept);
}

/* --- start and exit --- */

static unsigned char *early, *early_large;

__attribute__((constructor)) static void begin(void)
{
	early = malloc(100);
	early_large = calloc(1, 2 * MIB);
	fill(early, 100);
	fill(early_large, 2 * MIB);
}

static void test_early(void)
{
	early = resized(early, 5000);
	ok(early && is_filled(early, 100), "an object of a constructor's is resized");
	early_large = resized(early_large, 4 * MIB);
	ok(early_large && is_filled(early_large, 2 * MIB), "and a large one");
	free(early);
	free(early_large);
}

static pthread_key_t key;

static void allocate_at_thread_end(void *object)
{
	void *volatile own;

	free(object);
	own = malloc(1000);
	free(own);
}

static void *set_key(void *argument)
{
	(void)argument;
	pthread_setspecific(key, malloc(100));
	return NULL;
}

static void allocate_at_exit(void)
{
	char *object = malloc(5 * MIB);

	if (!object)
		_exit(3);
	strcpy(object, "# at exit there is memory\n");
	fputs(object, stdout);
	free(object);
}

int main(void)
{
	atexit(allocate_at_exit);
	pthread_key_create(&key, allocate_at_thread_end);
	test_sizes();
	test_calloc();
	test_realloc();
	test_sized();
	test_growth();
	test_errors();
	test_errno();
	pm_iteration(); /* from here on call sites are captured */
	test_cancel();
	test_threads();
	pm_iteration();
	test_fork();
	test_fork_while_locked();
	test_libraries();
	test_foreign();
	test_early();
	run_threads(set_key, 20);
	ok(true, "threads' keys are freed at their end");
	return tap_done();
}
