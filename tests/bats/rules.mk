# The controller's Lua without Slurm, and what a person types on a real Slurm on this host.
PRINT_MODES := $(BUILD)/tests/bats/lua/print_modes

$(PRINT_MODES): $(PRINT_MODES).o $(BUILD)/libpm.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

-include $(PRINT_MODES).d

.PHONY: check-lua
run-unit: check-lua
check-lua: $(PRINT_MODES)
	lua5.1 tests/bats/lua/test_pmem.lua
	diff -u <($(PRINT_MODES)) <(lua5.1 tests/bats/lua/print_modes.lua)

.PHONY: run-bench
run-bench: programs $(BUILD)/tests/pmshim.so
	PM_BUILD=$(abspath $(BUILD)) bats tests/bats
