// SPDX-License-Identifier: Apache-2.0
// Two arrays that the same wrappers of wrappers allocate, for two callers: the callers are the sixth frame. One array is
// allocated often, the other one once.
#include <cstdio>
#include <cstdlib>

namespace {

// Each layer does something behind its call, so that it keeps a frame.
template <int Layer> [[gnu::noinline]] double *layer(unsigned long count) {
	double *array = layer<Layer - 1>(count);

	array[Layer] = Layer;
	return array;
}

template <> [[gnu::noinline]] double *layer<0>(unsigned long count) {
	auto *array = static_cast<double *>(std::malloc(count * sizeof(double)));

	if (!array)
		std::abort();
	return array;
}

[[gnu::noinline]] double *scratch(unsigned long count) {
	double *array = layer<4>(count);

	array[6] = 6;
	return array;
}

[[gnu::noinline]] double *field(unsigned long count) {
	double *array = layer<4>(count);

	array[7] = 7;
	return array;
}

} // namespace

int main() {
	constexpr unsigned long count = 1 << 18;
	double *kept = field(count);
	double sum = 0;

	for (int i = 0; i < 20; i++) {
		double *array = scratch(count);

		for (unsigned long at = 0; at < count; at++)
			array[at] = i;
		sum += array[count / 2] + kept[7];
		std::free(array);
	}
	std::printf("sum %g\n", sum);
	std::free(kept);
	return 0;
}
