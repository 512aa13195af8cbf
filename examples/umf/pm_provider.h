/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROVIDER_H
#define PM_PROVIDER_H

/* Memory providers of UMF (Unified Memory Framework) for DRAM and persistent memory. */
#include <umf/memory_provider.h>

#include "pmplace.h"

/*
 * Creates the provider of a tier; umfMemoryProviderDestroy() ends it. Its memory is that of
 * pm_alloc(), of the other tier if this one is full. Errors of umfMemoryProviderCreate().
 */
umf_result_t pm_provider_create(enum pm_tier tier, umf_memory_provider_handle_t *ret);

#endif
