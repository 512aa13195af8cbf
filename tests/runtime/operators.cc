// SPDX-License-Identifier: Apache-2.0
// All twenty operators new and delete, and what a new does that finds no memory.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <set>
#include <string>
#include <vector>

static int failed, number;

static void ok(bool good, const char *what)
{
	failed += !good;
	std::printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
}

static bool good(void *p, std::size_t size, std::size_t align)
{
	if (p)
		std::memset(p, 0x5A, size);
	return p && reinterpret_cast<std::uintptr_t>(p) % align == 0;
}

static const std::size_t sizes[] = {1, 100, 70000, 3000000};
static volatile std::size_t huge = SIZE_MAX / 2;

static void one(std::size_t n)
{
	const std::align_val_t a{256};
	void *p[] = {operator new(n), operator new(n, std::nothrow), operator new(n),
		operator new(n, a), operator new(n, a, std::nothrow), operator new(n, a)};

	for (int i = 0; i < 6; i++)
		ok(good(p[i], n, i < 3 ? 16 : 256) || (n < 16 && p[i]), "operator new");
	operator delete(p[0]);
	operator delete(p[1], std::nothrow);
	operator delete(p[2], n);
	operator delete(p[3], a);
	operator delete(p[4], a, std::nothrow);
	operator delete(p[5], n, a);
}

static void array(std::size_t n)
{
	const std::align_val_t a{4096};
	void *p[] = {operator new[](n), operator new[](n, std::nothrow), operator new[](n),
		operator new[](n, a), operator new[](n, a, std::nothrow), operator new[](n, a)};

	for (int i = 0; i < 6; i++)
		ok(good(p[i], n, i < 3 ? 16 : 4096) || (n < 16 && p[i]), "operator new[]");
	operator delete[](p[0]);
	operator delete[](p[1], std::nothrow);
	operator delete[](p[2], n);
	operator delete[](p[3], a);
	operator delete[](p[4], a, std::nothrow);
	operator delete[](p[5], n, a);
}

static int asked;

static void handler()
{
	if (++asked == 3)
		std::set_new_handler(nullptr);
}

template <typename F> static bool throws(F f)
{
	try {
		return !f();
	} catch (const std::bad_alloc &) {
		return true;
	}
}

int main()
{
	for (std::size_t n : sizes) {
		one(n);
		array(n);
	}
	ok(throws([] { return operator new(huge); }), "new of too much throws");
	ok(throws([] { return operator new[](huge); }), "new[] too");
	ok(throws([] { return operator new(huge, std::align_val_t{64}); }), "an aligned one too");
	ok(!operator new(huge, std::nothrow), "without throwing it is NULL");
	ok(!operator new[](huge, std::align_val_t{64}, std::nothrow), "and of arrays, aligned");
	std::set_new_handler(handler);
	ok(throws([] { return operator new(huge); }) && asked == 3, "the new handler is asked");
	std::set<std::string> words;
	for (int i = 0; i < 20000; i++)
		words.insert(std::string(static_cast<std::size_t>(i % 300), 'x') + std::to_string(i));
	ok(words.size() == 20000, "containers");
	std::vector<double> v;
	for (int i = 0; i < 1000000; i++)
		v.push_back(i);
	ok(v[999999] == 999999, "a vector that grows");
	std::printf("1..%d\n", number);
	return failed != 0;
}
