/* SPDX-License-Identifier: Apache-2.0 */
#include "pm_provider.h"

#include <stdint.h>
#include <unistd.h>

#include <umf/memory_provider_ops.h>

struct provider {
	enum pm_tier tier;
	const char *name;
};

/* Constant, so that nothing is allocated for a provider itself. */
static const struct provider providers[] = {
	[PM_FAST] = {PM_FAST, "pm-fast"},
	[PM_SLOW] = {PM_SLOW, "pm-slow"},
};

static umf_result_t initialize(const void *params, void **ret)
{
	*ret = (void *)(uintptr_t)params;
	return UMF_RESULT_SUCCESS;
}

static umf_result_t finalize(void *provider)
{
	(void)provider;
	return UMF_RESULT_SUCCESS;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * pm_alloc() aligns like malloc(). A larger object has room for a stricter alignment; its address
 * is in the word below the aligned one.
 */
static umf_result_t alloc(void *provider, size_t size, size_t alignment, void **ret)
{
	const struct provider *p = provider;
	size_t align = alignment > page_size() ? alignment : page_size();
	char *object, *aligned;

	if (size > SIZE_MAX - align - sizeof(void *))
		return UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	object = pm_alloc(size + align + sizeof(void *), p->tier);
	if (!object)
		return UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	aligned = object + sizeof(void *);
	aligned += -(uintptr_t)aligned % align;
	((void **)aligned)[-1] = object;
	*ret = aligned;
	return UMF_RESULT_SUCCESS;
}

static umf_result_t release(void *provider, void *ptr, size_t size)
{
	(void)provider;
	(void)size;
	if (ptr)
		free(((void **)ptr)[-1]);
	return UMF_RESULT_SUCCESS;
}

static umf_result_t last_error(void *provider, const char **ret_text, int32_t *ret_code)
{
	(void)provider;
	*ret_text = "out of memory";
	*ret_code = 0;
	return UMF_RESULT_SUCCESS;
}

static umf_result_t recommended_page_size(void *provider, size_t size, size_t *ret)
{
	(void)provider;
	(void)size;
	*ret = page_size();
	return UMF_RESULT_SUCCESS;
}

static umf_result_t least_page_size(void *provider, const void *ptr, size_t *ret)
{
	(void)ptr;
	return recommended_page_size(provider, 0, ret);
}

static umf_result_t cache_line_size(void *provider, size_t *ret)
{
	(void)provider;
	*ret = 64;
	return UMF_RESULT_SUCCESS;
}

static umf_result_t name_of(void *provider, const char **ret)
{
	*ret = ((const struct provider *)provider)->name;
	return UMF_RESULT_SUCCESS;
}

static const umf_memory_provider_ops_t ops = {
	.version = UMF_PROVIDER_OPS_VERSION_CURRENT,
	.initialize = initialize,
	.finalize = finalize,
	.alloc = alloc,
	.free = release,
	.get_last_native_error = last_error,
	.get_recommended_page_size = recommended_page_size,
	.get_min_page_size = least_page_size,
	.get_name = name_of,
	.get_cache_line_size = cache_line_size,
};

umf_result_t pm_provider_create(enum pm_tier tier, umf_memory_provider_handle_t *ret)
{
	return umfMemoryProviderCreate(&ops, &providers[tier], ret);
}
