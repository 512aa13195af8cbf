/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PMPLACE_HPP
#define PMPLACE_HPP

/*
 * Memory resources of C++17 for the tiers of pmplace.h, pmplace(3):
 *
 *	pm::memory_resource slow(PM_SLOW);
 *	std::pmr::vector<double> cold(n, &slow);
 *
 * Containers ask for each object by itself, and one in PM_SLOW takes at least 64 KiB: for many small
 * ones put a std::pmr::monotonic_buffer_resource or a pool in front.
 */
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include "pmplace.h"

namespace pm
{

class memory_resource : public std::pmr::memory_resource
{
      public:
	explicit memory_resource(pm_tier tier) noexcept : tier_(tier)
	{
	}

	pm_tier tier() const noexcept
	{
		return tier_;
	}

      private:
	/* Objects in PM_SLOW and large ones are aligned to 64 KiB; malloc() serves the others. */
	void *do_allocate(std::size_t bytes, std::size_t align) override
	{
		void *object = pm_alloc(bytes, tier_);

		if (object && reinterpret_cast<std::uintptr_t>(object) % align) {
			std::free(object);
			object = std::aligned_alloc(align, (bytes + align - 1) / align * align);
		}
		if (!object)
			throw std::bad_alloc();
		return object;
	}

	void do_deallocate(void *object, std::size_t, std::size_t) override
	{
		std::free(object);
	}

	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
	{
		return dynamic_cast<const memory_resource *>(&other);
	}

	pm_tier tier_;
};

} // namespace pm

#endif
