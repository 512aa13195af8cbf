# The controller's Lua without Slurm, and what a person types on a real Slurm on this host.
PRINT_MODES := $(BUILD)/tests/bats/lua/print_modes
PRINT_KEYS  := $(BUILD)/tests/bats/lua/print_keys

$(PRINT_MODES) $(PRINT_KEYS): %: %.o $(BUILD)/libpm.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

-include $(PRINT_MODES).d $(PRINT_KEYS).d

# Who adds a key to lib/config.c adds it to pmem_conf.lua: an unknown one refuses jobs there.
.PHONY: check-lua
run-unit: check-lua
check-lua: $(PRINT_MODES) $(PRINT_KEYS) $(BUILD)/pmctl
	lua5.1 tests/bats/lua/test_pmem.lua
	lua5.1 tests/bats/lua/test_nodes.lua
	lua5.1 tests/bats/lua/test_policy.lua $(BUILD)/tests/bats/lua/pmem.conf
	diff -u <($(PRINT_MODES)) <(lua5.1 tests/bats/lua/print_modes.lua)
	diff -u <($(PRINT_KEYS) | sort) <(lua5.1 tests/bats/lua/print_config.lua keys | sort)
	PM_BUILD=$(abspath $(BUILD)) tests/bats/lua/test_agreement.sh

.PHONY: build-bench run-bench
build-bench: programs $(BUILD)/tests/pmshim.so
run-bench: build-bench
	PM_BUILD=$(abspath $(BUILD)) bats tests/bats
