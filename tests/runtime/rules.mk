# The runtime under programs of our own and under everybody's, beside plain glibc.
RUNTIME_TESTS := $(addprefix $(BUILD)/tests/runtime/,family hoard bss operators pic alike threads streams tiers \
	resource umf advise wrappers deep touch)

$(BUILD)/tests/runtime/%: $(BUILD)/tests/runtime/%.o
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $< $(LDLIBS) -pthread

$(addprefix $(BUILD)/tests/runtime/,operators resource wrappers deep): $(BUILD)/tests/runtime/%: tests/runtime/%.cc runtime/pmplace.hpp runtime/pmplace.h
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -I. -Wall -Wextra -Werror -o $@ $<

# UMF is not in Debian 12; its wheel has the library and the headers.
UMF := $(BUILD)/umf
$(UMF)/done: tests/runtime/requirements.txt
	@rm -rf $(@D)
	@/usr/bin/python3 -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $<
	@touch $@

$(BUILD)/tests/runtime/umf: $(wildcard examples/umf/*) runtime/pmplace.h $(UMF)/done
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARNINGS) -I$(UMF)/include -Iruntime -o $@ $(filter %.c,$^) -L$(UMF)/lib -lumf \
		-Wl,-rpath,$(abspath $(UMF)/lib)

# MrBayes of Debian's source, as it is and with the streams of examples/mrbayes; only what these change is compiled twice.
MRBAYES := $(BUILD)/mrbayes
$(MRBAYES)/plain/done: tests/runtime/mrbayes.sha256
	@rm -rf $(@D) && mkdir -p $(@D)
	@file=$$(packaging/source $<) && tar -xf "$$file" -C $(@D) --strip-components=1
	@packaging/logged $(MRBAYES)/plain.log sh -ec 'cd $(@D) && ./configure --without-beagle --without-readline && $(MAKE)'
	@touch $@

$(MRBAYES)/streams/done: $(MRBAYES)/plain/done examples/mrbayes/streams.patch runtime/pmplace.h
	@rm -rf $(@D) && cp -a $(<D) $(@D)
	@patch -s -p1 -d $(@D) <examples/mrbayes/streams.patch
	@packaging/logged $(MRBAYES)/streams.log $(MAKE) -C $(@D) CPPFLAGS=-I$(abspath runtime)
	@touch $@

$(BUILD)/tests/runtime/threads: LDLIBS += -lstdc++

# The heap's own test, all of it seen by the thread sanitizer.
$(BUILD)/tests/runtime/heap_threads: tests/unit/runtime/heap/test_heap.c $(addprefix runtime/,heap/heap.c heap/heap_range.c heap/moved_pages.c heap/named_ranges.c heap/space.c heap/live_bytes.c heap/size_predictor.c common/rank_registry.c \
	common/nodemask.c heap/settings.c common/log.c)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -I. -O1 -g -fsanitize=thread -o $@ $(filter %.c,$^) -pthread

# The same of the whole runtime, linked into the program under names of its own: the sanitizer has malloc() itself.
$(BUILD)/tests/runtime/%_tsan: tests/runtime/%.c $(RUNTIME_SRCS) $(wildcard model/*.c copy/*.c) tests/runtime/own_descriptors.c $(JEMALLOC) \
	tests/runtime/family.syms
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -I. -O1 -g -fsanitize=thread -fno-builtin -r -nostdlib -o $@.o $(filter %.c,$^)
	objcopy --redefine-syms=tests/runtime/family.syms $@.o
	$(CC) -fsanitize=thread -Wl,--wrap=pmje_exp_grow_init,--wrap=close_range -o $@ $@.o $(filter %.a,$^) -pthread

SANITIZED := $(addprefix $(BUILD)/tests/runtime/,heap_threads threads_tsan streams_tsan tiers_tsan advise_tsan)
MEMCHECKED := $(addprefix $(BUILD)/tests/unit/,runtime/heap/test_space runtime/lifetime/test_lifetime runtime/lifetime/test_sizing \
	runtime/common/test_nodemask runtime/heap/test_heap runtime/heap/test_prefault)

.SECONDARY: $(RUNTIME_TESTS:%=%.o)
-include $(RUNTIME_TESTS:%=%.d)

.PHONY: check-unit-runtime
check-unit-runtime: $(BUILD)/libpmplace.so $(BUILD)/pmrun $(RUNTIME_TESTS) $(SANITIZED)
	PM_BUILD=$(abspath $(BUILD)) $(BATS) --filter-tags '!long' tests/runtime

run-unit: check-unit-runtime

# All of it, with the threads at it for a minute in each configuration, and what valgrind takes long for.
.PHONY: run-runtime
run-runtime: $(BUILD)/libpmplace.so $(BUILD)/pmrun $(RUNTIME_TESTS) $(SANITIZED) $(MEMCHECKED) $(MRBAYES)/streams/done
	PM_BUILD=$(abspath $(BUILD)) PM_SECONDS=60 $(BATS) tests/runtime
	$(METER_PYTEST) tests/evaluate/test_sources.py
