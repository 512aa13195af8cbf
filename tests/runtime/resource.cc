/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of C++17 in both tiers, also such as want a larger alignment. */
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "runtime/pmplace.hpp"

namespace
{

struct alignas(256) line {
	double values[32];
};

double sum_of(std::pmr::memory_resource *resource)
{
	std::pmr::vector<double> numbers(300000, 1.5, resource);
	std::pmr::map<int, std::pmr::string> words(resource);
	std::pmr::vector<line> lines(resource);
	double sum = 0;

	for (int i = 0; i < 100; i++) {
		words[i] = "a word that is too long for the string itself";
		lines.push_back(line{{1.0 * i}});
	}
	for (double number : numbers)
		sum += number;
	for (const auto &word : words)
		sum += static_cast<double>(word.second.size());
	for (const auto &each : lines)
		sum += each.values[0] + (reinterpret_cast<std::uintptr_t>(&each) % alignof(line));
	return sum;
}

} // namespace

int main()
{
	pm::memory_resource slow(PM_SLOW), fast(PM_FAST), also_slow(PM_SLOW);

	std::printf("%g %g\n", sum_of(&slow), sum_of(&fast));
	std::printf("%d %d\n", slow == also_slow, slow == *std::pmr::new_delete_resource());
	try {
		slow.deallocate(slow.allocate(static_cast<std::size_t>(1) << 62), 1);
	} catch (const std::bad_alloc &) {
		std::puts("bad_alloc");
	}
	return 0;
}
