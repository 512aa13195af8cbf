# The runtime under programs of our own and under everybody's, beside plain glibc.
RUNTIME_TESTS := $(addprefix $(BUILD)/tests/runtime/,family hoard bss operators)

$(BUILD)/tests/runtime/%: $(BUILD)/tests/runtime/%.o
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $< -pthread

$(BUILD)/tests/runtime/operators: tests/runtime/operators.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -Wall -Wextra -Werror -o $@ $<

.SECONDARY: $(RUNTIME_TESTS:%=%.o)
-include $(RUNTIME_TESTS:%=%.d)

.PHONY: check-unit-runtime
check-unit-runtime: $(BUILD)/libpmplace.so $(BUILD)/pmrun $(RUNTIME_TESTS)
	PM_BUILD=$(abspath $(BUILD)) bats tests/runtime/runtime.bats

run-unit: check-unit-runtime
