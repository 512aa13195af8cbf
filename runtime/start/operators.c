/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++'s operators new and delete: all twenty of [new.delete] in C++20, under their names of the
 * Itanium ABI for 64 bits. libstdc++'s operators would call malloc(). With these operators the call
 * site is one frame nearer, and no other library's operators come in between.
 *
 * This library does not link libstdc++. A new that finds no memory calls the next library's
 * operator. That one calls malloc(), which fails again, and then calls the new handler or throws
 * std::bad_alloc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/log.h"
#include "runtime/start/interpose.h"

#define cold __attribute__((noinline, cold))

/* The next library's operator. A libstdc++ that dlopen(3) loaded for a plugin is not in scope. */
static cold void *lookup_operator(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name), *library;

	if (function)
		return function;
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, name) : NULL;
}

/* Called when memory is used up, so that dlsym(3) may fail too: aborts, instead of trying again. */
static void *lookup_or_abort(const char *name)
{
	void *function = lookup_operator(name);

	if (function)
		return function;
	pm_log("out of memory, and no libstdc++ that would throw std::bad_alloc: ending");
	abort();
}

static cold void *call_next(const char *name, size_t size)
{
	void *found = lookup_or_abort(name), *(*function)(size_t);

	memcpy(&function, &found, sizeof(function));
	return function(size);
}

static cold void *call_next_2(const char *name, size_t size, size_t second)
{
	void *found = lookup_or_abort(name), *(*function)(size_t, size_t);

	memcpy(&function, &found, sizeof(function));
	return function(size, second);
}

static cold void *call_next_3(const char *name, size_t size, size_t align, const void *nothrow)
{
	void *found = lookup_or_abort(name), *(*function)(size_t, size_t, const void *);

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
		return p ? p : call_next("_Zn" letter "m", size);                                  \
	}

define_new(new_one, "w");
define_new(new_array, "a");

#define define_new_nothrow(name, letter)                                                           \
	void *name(size_t size, const void *nothrow) exported("_Zn" letter "mRKSt9nothrow_t");     \
	void *name(size_t size, const void *nothrow)                                               \
	{                                                                                          \
		void *p = pm_malloc(size, CALLER);                                                 \
                                                                                                   \
		return p ? p : call_next_2("_Zn" letter "mRKSt9nothrow_t", size, (size_t)nothrow); \
	}

define_new_nothrow(new_one_nothrow, "w");
define_new_nothrow(new_array_nothrow, "a");

#define define_new_aligned(name, letter)                                                           \
	void *name(size_t size, size_t align) exported("_Zn" letter "mSt11align_val_t");           \
	void *name(size_t size, size_t align)                                                      \
	{                                                                                          \
		void *p = pm_memalign(align, size, CALLER);                                        \
                                                                                                   \
		return p ? p : call_next_2("_Zn" letter "mSt11align_val_t", size, align);          \
	}

define_new_aligned(new_one_aligned, "w");
define_new_aligned(new_array_aligned, "a");

#define define_new_aligned_nothrow(name, symbol)                                                   \
	void *name(size_t size, size_t align, const void *nothrow) exported(symbol);               \
	void *name(size_t size, size_t align, const void *nothrow)                                 \
	{                                                                                          \
		void *p = pm_memalign(align, size, CALLER);                                        \
                                                                                                   \
		return p ? p : call_next_3(symbol, size, align, nothrow);                          \
	}

define_new_aligned_nothrow(new_one_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t");
define_new_aligned_nothrow(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t");

/* operator delete(void *, ...): further arguments, size and alignment, are not needed. */
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
