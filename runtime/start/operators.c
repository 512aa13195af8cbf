/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++'s operators new and delete, all twenty of [new.delete] in C++20, under the names that the
 * Itanium ABI gives them on 64 bits. They would reach malloc() through libstdc++ anyhow; here a
 * frame less is between a call site and us, and another library's operators do not come in between.
 * This library is not linked to libstdc++: a new that finds no memory leaves what follows, the new
 * handler and std::bad_alloc, to the next library's, which will ask us in vain once more.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/log.h"
#include "runtime/start/interpose.h"

#define cold __attribute__((noinline, cold))

/* The next library's function; libstdc++ may have been loaded for a plugin alone, out of sight. */
static cold void *next_operator(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name), *library;

	if (function)
		return function;
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, name) : NULL;
}

/* For as long as it is looked for nothing asks again: dlsym() itself may be out of memory. */
static void *find_or_end(const char *name)
{
	void *function = next_operator(name);

	if (function)
		return function;
	pm_log("out of memory, and no libstdc++ that would throw std::bad_alloc: ending");
	abort();
}

static cold void *fail(const char *name, size_t size)
{
	void *found = find_or_end(name), *(*function)(size_t);

	memcpy(&function, &found, sizeof(function));
	return function(size);
}

static cold void *fail_2(const char *name, size_t size, size_t second)
{
	void *found = find_or_end(name), *(*function)(size_t, size_t);

	memcpy(&function, &found, sizeof(function));
	return function(size, second);
}

static cold void *fail_3(const char *name, size_t size, size_t align, const void *nothrow)
{
	void *found = find_or_end(name), *(*function)(size_t, size_t, const void *);

	memcpy(&function, &found, sizeof(function));
	return function(size, align, nothrow);
}

#define exported(name) __asm__(name) __attribute__((visibility("default")))

/* `letter`: w, or a for arrays. */
#define define_new(name, letter)                                                                   \
	void *name(size_t size) exported("_Zn" letter "m");                                        \
	void *name(size_t size)                                                                    \
	{                                                                                          \
		void *p = pm_malloc(size, CALLER);                                                 \
                                                                                                   \
		return p ? p : fail("_Zn" letter "m", size);                                       \
	}

define_new(new_one, "w");
define_new(new_array, "a");

#define define_new_nothrow(name, letter)                                                           \
	void *name(size_t size, const void *nothrow) exported("_Zn" letter "mRKSt9nothrow_t");     \
	void *name(size_t size, const void *nothrow)                                               \
	{                                                                                          \
		void *p = pm_malloc(size, CALLER);                                                 \
                                                                                                   \
		return p ? p : fail_2("_Zn" letter "mRKSt9nothrow_t", size, (size_t)nothrow);      \
	}

define_new_nothrow(new_one_nothrow, "w");
define_new_nothrow(new_array_nothrow, "a");

#define define_new_aligned(name, letter)                                                           \
	void *name(size_t size, size_t align) exported("_Zn" letter "mSt11align_val_t");           \
	void *name(size_t size, size_t align)                                                      \
	{                                                                                          \
		void *p = pm_aligned(align, size, CALLER);                                         \
                                                                                                   \
		return p ? p : fail_2("_Zn" letter "mSt11align_val_t", size, align);               \
	}

define_new_aligned(new_one_aligned, "w");
define_new_aligned(new_array_aligned, "a");

#define define_new_aligned_nothrow(name, symbol)                                                   \
	void *name(size_t size, size_t align, const void *nothrow) exported(symbol);               \
	void *name(size_t size, size_t align, const void *nothrow)                                 \
	{                                                                                          \
		void *p = pm_aligned(align, size, CALLER);                                         \
                                                                                                   \
		return p ? p : fail_3(symbol, size, align, nothrow);                               \
	}

define_new_aligned_nothrow(new_one_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t");
define_new_aligned_nothrow(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t");

/* operator delete(void *, ...): whatever else it is told, the object is enough. */
#define define_delete(name, symbol)                                                                \
	void name(void *object) exported(symbol);                                                  \
	void name(void *object)                                                                    \
	{                                                                                          \
		pm_free(object);                                                                   \
	}

define_delete(delete_one, "_ZdlPv");
define_delete(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t");
define_delete(delete_one_sized, "_ZdlPvm");
define_delete(delete_one_aligned, "_ZdlPvSt11align_val_t");
define_delete(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t");
define_delete(delete_one_sized_aligned, "_ZdlPvmSt11align_val_t");
define_delete(delete_array, "_ZdaPv");
define_delete(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t");
define_delete(delete_array_sized, "_ZdaPvm");
define_delete(delete_array_aligned, "_ZdaPvSt11align_val_t");
define_delete(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t");
define_delete(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t");
