/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads that allocate by every function of the family, and look at, resize and give back
 * each other's objects, which they hand on through queues. Threads end and others begin in their
 * place, and children are forked meanwhile.
 *
 *	threads [-t THREADS] [-n OPERATIONS | -s SECONDS] [-r SEED]
 *
 * Every word of an object says who made it, and where in it the word is. So what overlaps, and what
 * writes where it should not, is seen when the object is next looked at, by whoever that is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/pmplace.h"
#include "tests/unit/tap.h"

#define THREADS_MAX 1024
#define QUEUES	    64
#define QUEUE_ROOM  32
#define LIFE	    20	 /* operations of a thread, to three times as many */
#define FORK_EVERY  32	 /* threads */
#define ITERATION   1000 /* operations */
#define CHILD_S	    120	 /* then a child that hangs is ended */

struct way;

struct object {
	unsigned char *start;
	size_t bytes, align;
	uint64_t tag; /* the first word: the allocating thread, and its count of objects */
	const struct way *way;
};

struct worker {
	uint64_t random;
	uint64_t tag; /* of its next object */
};

static struct {
	unsigned threads;
	long operations; /* 0: until then */
	struct timespec end;
	uint64_t seed;
} asked = {.threads = 64, .operations = 60000, .seed = 1};

static atomic_long operations, children;
static atomic_uint lives, failures;

static uint64_t next_random(struct worker *worker)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	worker->random ^= worker->random << 17;
	return worker->random >> 8;
}

static size_t below(struct worker *worker, size_t n)
{
	return next_random(worker) % n;
}

static void fail(const struct object *object, const char *name, const char *what)
{
	if (atomic_fetch_add(&failures, 1) < 10)
		printf("# %s: %zu bytes at %p, tag %llx: %s\n", name, object->bytes,
			(void *)object->start, (unsigned long long)object->tag, what);
}

/* --- the family --- */

/* C23, not in glibc 2.36; and a function that programs built before glibc 2.26 call. */
__attribute__((weak)) void free_sized(void *object, size_t bytes);
__attribute__((weak)) void free_aligned_sized(void *object, size_t align, size_t bytes);
__attribute__((weak)) void cfree(void *object);

/* C++'s operators, under their names of the Itanium ABI. */
void *new_one(size_t bytes) __asm__("_Znwm");
void *new_array(size_t bytes) __asm__("_Znam");
void *new_aligned(size_t bytes, size_t align) __asm__("_ZnwmSt11align_val_t");
void delete_one(void *object, size_t bytes) __asm__("_ZdlPvm");
void delete_array(void *object) __asm__("_ZdaPv");
void delete_aligned(void *object, size_t align) __asm__("_ZdlPvSt11align_val_t");

static void *by_malloc(size_t bytes, size_t align)
{
	(void)align;
	return malloc(bytes);
}

static void *by_calloc(size_t bytes, size_t align)
{
	(void)align;
	return calloc(1, bytes);
}

static void *by_realloc(size_t bytes, size_t align)
{
	(void)align;
	return realloc(NULL, bytes);
}

static void *by_reallocarray(size_t bytes, size_t align)
{
	(void)align;
	return reallocarray(NULL, 2, (bytes + 1) / 2);
}

static void *by_aligned_alloc(size_t bytes, size_t align)
{
	return aligned_alloc(align, bytes);
}

static void *by_memalign(size_t bytes, size_t align)
{
	return memalign(align, bytes);
}

static void *by_posix_memalign(size_t bytes, size_t align)
{
	void *object;

	return posix_memalign(&object, align, bytes) ? NULL : object;
}

static void *by_valloc(size_t bytes, size_t align)
{
	(void)align;
	return valloc(bytes);
}

static void *by_pvalloc(size_t bytes, size_t align)
{
	(void)align;
	return pvalloc(bytes);
}

static void *by_new(size_t bytes, size_t align)
{
	(void)align;
	return new_one(bytes);
}

static void *by_new_array(size_t bytes, size_t align)
{
	(void)align;
	return new_array(bytes);
}

static void by_free(const struct object *object)
{
	if (cfree && object->tag % 2)
		cfree(object->start);
	else
		free(object->start);
}

static void by_free_sized(const struct object *object)
{
	if (free_sized && object->tag % 2)
		free_sized(object->start, object->bytes);
	else
		free(object->start);
}

static void by_free_aligned_sized(const struct object *object)
{
	if (free_aligned_sized && object->tag % 2)
		free_aligned_sized(object->start, object->align, object->bytes);
	else
		free(object->start);
}

static void by_delete(const struct object *object)
{
	delete_one(object->start, object->bytes);
}

static void by_delete_array(const struct object *object)
{
	delete_array(object->start);
}

static void by_delete_aligned(const struct object *object)
{
	delete_aligned(object->start, object->align);
}

struct way {
	const char *name;
	void *(*take)(size_t bytes, size_t align);
	void (*give)(const struct object *object);
	bool is_aligned, is_zero, is_of_cxx;
};

/* What realloc() has changed is its own. */
#define RESIZED (&ways[0])

static const struct way ways[] = {
	{"realloc", by_realloc, by_free_sized, .is_aligned = false},
	{"malloc", by_malloc, by_free_sized, .is_aligned = false},
	{"malloc", by_malloc, by_free, .is_aligned = false},
	{"calloc", by_calloc, by_free_sized, .is_zero = true},
	{"reallocarray", by_reallocarray, by_free, .is_aligned = false},
	{"aligned_alloc", by_aligned_alloc, by_free_aligned_sized, .is_aligned = true},
	{"memalign", by_memalign, by_free, .is_aligned = true},
	{"posix_memalign", by_posix_memalign, by_free, .is_aligned = true},
	{"valloc", by_valloc, by_free, .is_aligned = false},
	{"pvalloc", by_pvalloc, by_free, .is_aligned = false},
	{"operator new", by_new, by_delete, .is_of_cxx = true},
	{"operator new[]", by_new_array, by_delete_array, .is_of_cxx = true},
	{"operator new, aligned", new_aligned, by_delete_aligned, .is_aligned = true,
		.is_of_cxx = true},
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static atomic_long uses[WAYS];

/* --- objects --- */

static uint64_t word_at(uint64_t tag, size_t at)
{
	return tag + at * UINT64_C(0x9E3779B97F4A7C15);
}

static void fill(const struct object *object)
{
	size_t words = object->bytes / 8;
	uint64_t last = word_at(object->tag, words);

	for (size_t i = 0; i < words; i++)
		((uint64_t *)object->start)[i] = word_at(object->tag, i);
	memcpy(object->start + words * 8, &last, object->bytes % 8);
}

/* Checks that the first bytes are as the allocating thread wrote them. */
static bool holds(const struct object *object, size_t bytes)
{
	size_t words = bytes / 8;
	uint64_t last = word_at(object->tag, words);

	for (size_t i = 0; i < words; i++)
		if (((const uint64_t *)object->start)[i] != word_at(object->tag, i))
			return false;
	return !memcmp(object->start + words * 8, &last, bytes % 8);
}

static bool is_zero(const struct object *object)
{
	size_t words = object->bytes / 8;

	for (size_t i = 0; i < words; i++)
		if (((const uint64_t *)object->start)[i])
			return false;
	for (size_t i = words * 8; i < object->bytes; i++)
		if (object->start[i])
			return false;
	return true;
}

static void check(const struct object *object)
{
	if (malloc_usable_size(object->start) < object->bytes)
		fail(object, object->way->name, "is smaller than it was asked for");
	if (!holds(object, object->bytes))
		fail(object, object->way->name, "is not as its maker left it");
}

/* A random size within a power of two, mostly small, several MiB at most. */
static size_t random_bytes(struct worker *worker)
{
	size_t kind = below(worker, 64), least;

	if (!kind)
		least = (size_t)1 << (18 + below(worker, 5));
	else
		least = (size_t)1 << (kind < 5 ? 14 + below(worker, 4) : 4 + below(worker, 10));
	return least + below(worker, least);
}

static size_t random_align(struct worker *worker, const struct way *way)
{
	size_t most = below(worker, 32) ? 9 : 17; /* 2 MiB */

	return way->is_aligned ? (size_t)16 << below(worker, most) : 16;
}

static bool make(struct worker *worker, struct object *ret)
{
	size_t at = below(worker, WAYS);
	const struct way *way = &ways[at];

	*ret = (struct object){.bytes = random_bytes(worker),
		.align = random_align(worker, way),
		.tag = worker->tag++,
		.way = way};
	ret->start = way->take(ret->bytes, ret->align);
	atomic_fetch_add_explicit(&uses[at], 1, memory_order_relaxed);
	if (!ret->start || (uintptr_t)ret->start % ret->align) {
		fail(ret, way->name, ret->start ? "is not aligned" : "is no memory");
		return false;
	}
	if (way->is_zero && !is_zero(ret))
		fail(ret, way->name, "is not zero");
	fill(ret);
	return true;
}

static void give(const struct object *object)
{
	check(object);
	object->way->give(object);
}

/* Resizes to a near size, or to any. */
static void resize(struct worker *worker, struct object *object)
{
	size_t bytes = below(worker, 2) ? object->bytes + below(worker, object->bytes)
					: random_bytes(worker);
	size_t kept = bytes < object->bytes ? bytes : object->bytes;
	unsigned char *start;

	if (object->way->is_of_cxx)
		return;
	start = realloc(object->start, bytes);
	if (!start) {
		fail(object, "realloc", "is not resized");
		return;
	}
	object->start = start;
	object->bytes = bytes;
	object->way = RESIZED;
	if (!holds(object, kept))
		fail(object, "realloc", "is not what it was");
	object->tag = worker->tag++;
	fill(object);
}

/* --- queues --- */

static struct queue {
	pthread_mutex_t lock;
	unsigned first, n;
	struct object objects[QUEUE_ROOM];
} queues[QUEUES];

static bool put(struct queue *queue, const struct object *object)
{
	bool has_room;

	pthread_mutex_lock(&queue->lock);
	has_room = queue->n < QUEUE_ROOM;
	if (has_room)
		queue->objects[(queue->first + queue->n++) % QUEUE_ROOM] = *object;
	pthread_mutex_unlock(&queue->lock);
	return has_room;
}

static bool get(struct queue *queue, struct object *ret)
{
	bool has_one;

	pthread_mutex_lock(&queue->lock);
	has_one = queue->n;
	if (has_one) {
		*ret = queue->objects[queue->first];
		queue->first = (queue->first + 1) % QUEUE_ROOM;
		queue->n--;
	}
	pthread_mutex_unlock(&queue->lock);
	return has_one;
}

static void empty_queues(void)
{
	struct object object;

	for (int i = 0; i < QUEUES; i++)
		while (get(&queues[i], &object))
			give(&object);
}

/* --- threads --- */

static bool goes_on(void)
{
	struct timespec now;

	if (asked.operations)
		return atomic_load_explicit(&operations, memory_order_relaxed) < asked.operations;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < asked.end.tv_sec ||
	       (now.tv_sec == asked.end.tv_sec && now.tv_nsec < asked.end.tv_nsec);
}

static void hand_on(struct worker *worker, const struct object *object)
{
	if (!put(&queues[below(worker, QUEUES)], object))
		give(object);
}

static void step(struct worker *worker)
{
	size_t what = below(worker, 16);
	struct object object;

	if (what < 7 || !get(&queues[below(worker, QUEUES)], &object)) {
		if (make(worker, &object))
			hand_on(worker, &object);
	} else if (what < 12) {
		give(&object);
	} else {
		check(&object);
		resize(worker, &object);
		hand_on(worker, &object);
	}
	if (atomic_fetch_add_explicit(&operations, 1, memory_order_relaxed) % ITERATION ==
		ITERATION - 1)
		pm_iteration();
}

/* In a child: inherited objects, and its own. */
static void work_in_child(struct worker *worker, struct object *inherited)
{
	struct object own;

	alarm(CHILD_S);
	for (int i = 0; i < 40; i++) {
		if (make(worker, &own)) {
			resize(worker, &own);
			give(&own);
		}
	}
	check(inherited);
	resize(worker, inherited);
	give(inherited);
	_exit(atomic_load(&failures) != 0);
}

static void fork_one(struct worker *worker)
{
	struct object object;
	int status = -1;
	pid_t child;

	if (!make(worker, &object))
		return;
	fflush(stdout);
	child = fork();
	if (!child)
		work_in_child(worker, &object);
	if (child > 0 && waitpid(child, &status, 0) == child && !status)
		atomic_fetch_add(&children, 1);
	else
		fail(&object, "fork", "is another in a child, or that hangs");
	give(&object);
}

static pthread_key_t key;

static void give_at_end(void *object)
{
	give(object);
	free(object);
}

/* An object of thread-specific data, freed by the key's destructor. */
static void keep_until_end(struct worker *worker)
{
	struct object *object = malloc(sizeof(*object));

	if (make(worker, object))
		pthread_setspecific(key, object);
	else
		free(object);
}

static sem_t ended;
static pthread_t last[THREADS_MAX]; /* of each chain of threads */
static atomic_uint lines;

static void *live(void *argument);

/* Starts a successor, which joins this thread. */
static void go_on(void)
{
	pthread_t next, *self = malloc(sizeof(*self));

	*self = pthread_self();
	if (goes_on() && !pthread_create(&next, NULL, live, self))
		return;
	last[atomic_fetch_add(&lines, 1)] = *self;
	free(self);
	sem_post(&ended);
}

static struct worker new_worker(void)
{
	uint64_t number = atomic_fetch_add(&lives, 1) + UINT64_C(1);

	return (struct worker){
		.random = (asked.seed * 1000003 + number) * UINT64_C(0x9E3779B97F4A7C15) | 1,
		.tag = number << 32};
}

static void *live(void *argument)
{
	struct worker worker = new_worker();
	bool is_parent = (worker.tag >> 32) % FORK_EVERY == 1;
	pthread_t *before = argument;

	if (before)
		pthread_join(*before, NULL);
	free(before);
	keep_until_end(&worker);
	for (size_t left = LIFE + below(&worker, 2 * LIFE); left && goes_on(); left--)
		step(&worker);
	if (is_parent)
		fork_one(&worker);
	go_on();
	if (worker.random % 2)
		pthread_exit(NULL);
	return NULL;
}

static void run_threads(void)
{
	pthread_t id;

	for (unsigned i = 0; i < asked.threads; i++)
		if (pthread_create(&id, NULL, live, NULL))
			exit(2);
	for (unsigned i = 0; i < asked.threads; i++)
		while (sem_wait(&ended))
			continue;
	for (unsigned i = 0; i < asked.threads; i++)
		pthread_join(last[i], NULL);
}

/* --- main --- */

static void prepare(void)
{
	for (int i = 0; i < QUEUES; i++)
		pthread_mutex_init(&queues[i].lock, NULL);
	pthread_key_create(&key, give_at_end);
	sem_init(&ended, 0, 0);
}

static bool set(int option, long value)
{
	switch (option) {
	case 't':
		asked.threads = (unsigned)value;
		return value <= THREADS_MAX;
	case 'n':
		asked.operations = value;
		return true;
	case 's':
		clock_gettime(CLOCK_MONOTONIC, &asked.end);
		asked.end.tv_sec += value;
		asked.operations = 0;
		return true;
	case 'r':
		asked.seed = (uint64_t)value;
		return true;
	default:
		return false;
	}
}

static void parse(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "t:n:s:r:")) != -1) {
		long value = optarg ? atol(optarg) : 0;

		if (value < 1 || !set(option, value)) {
			fprintf(stderr, "usage: threads [-t THREADS] [-n OPERATIONS | -s SECONDS] "
					"[-r SEED]\n");
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	prepare();
	run_threads();
	empty_queues();
	printf("# seed %llu: %ld operations by %u threads, one after another %u; %ld children\n",
		(unsigned long long)asked.seed, atomic_load(&operations), asked.threads,
		atomic_load(&lives), atomic_load(&children));
	for (size_t i = 0; i < WAYS; i++)
		ok(atomic_load(&uses[i]), "objects of %s", ways[i].name);
	ok(atomic_load(&lives) > asked.threads, "threads end, and others begin");
	ok(atomic_load(&children), "children are forked");
	is_number(atomic_load(&failures), 0, "each object is as its maker left it");
	return tap_done();
}
