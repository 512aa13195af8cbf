# The runtime under programs of our own and under everybody's, beside plain glibc.
RUNTIME_TESTS := $(addprefix $(BUILD)/tests/runtime/,family hoard bss operators pic alike)

$(BUILD)/tests/runtime/%: $(BUILD)/tests/runtime/%.o
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $< -pthread

$(BUILD)/tests/runtime/operators: tests/runtime/operators.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -Wall -Wextra -Werror -o $@ $<

# The heap's own test, all of it seen by the thread sanitizer.
$(BUILD)/tests/runtime/heap_threads: tests/unit/test_heap.c $(addprefix runtime/,heap.c heap_range.c space.c recur.c roll.c nodes.c \
		settings.c say.c)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -I. -O1 -g -fsanitize=thread -o $@ $(filter %.c,$^) -pthread

.SECONDARY: $(RUNTIME_TESTS:%=%.o)
-include $(RUNTIME_TESTS:%=%.d)

.PHONY: check-unit-runtime
check-unit-runtime: $(BUILD)/libpmplace.so $(BUILD)/pmrun $(RUNTIME_TESTS) $(BUILD)/tests/runtime/heap_threads
	PM_BUILD=$(abspath $(BUILD)) bats tests/runtime/runtime.bats

run-unit: check-unit-runtime
