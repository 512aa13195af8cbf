// SPDX-License-Identifier: Apache-2.0
// Allocations behind templates, small functions and the C++ library, all of them inlined into main() at -O2: a profile is
// to tell them apart.
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

template <class T> T *Allocate(unsigned long count) {
	return static_cast<T *>(std::malloc(count * sizeof(T)));
}

struct Field {
	std::vector<double> values;
	explicit Field(unsigned long count) : values(count) {}
};

double *forces(unsigned long count) { return Allocate<double>(count); }

double *velocities(unsigned long count) { return Allocate<double>(count); }

} // namespace

int main() {
	volatile double sum = 0;

	for (int i = 0; i < 5; i++) {
		double *a = forces(1 << 18), *b = velocities(1 << 17), *c = Allocate<double>(1 << 16);
		auto field = std::make_unique<Field>(1 << 18);

		a[5] = b[5] = c[5] = 1;
		sum = sum + a[5] + b[5] + c[5] + field->values[3];
		std::free(a), std::free(b), std::free(c);
	}
	return sum < 0;
}
