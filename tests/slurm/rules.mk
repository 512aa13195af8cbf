# The controller's Lua without Slurm, and what a person types on a real Slurm on this host.
PRINT_MODES := $(BUILD)/tests/lua/print_modes
PRINT_KEYS  := $(BUILD)/tests/lua/print_keys
PRINT_CONSTRAINTS := $(BUILD)/tests/lua/print_constraints

$(PRINT_MODES) $(PRINT_KEYS) $(PRINT_CONSTRAINTS): %: %.o $(LIBRARIES)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

-include $(PRINT_MODES).d $(PRINT_KEYS).d $(PRINT_CONSTRAINTS).d

# Keys of site/keys.def are in pmem_conf.lua, too: an unknown one refuses jobs there.
.PHONY: check-lua
run-unit: check-lua
check-lua: $(PRINT_MODES) $(PRINT_KEYS) $(PRINT_CONSTRAINTS) $(BUILD)/pmctl
	lua5.1 tests/lua/test_pmem.lua $(BUILD)/tests/lua/modes
	lua5.1 tests/lua/test_nodes.lua
	mkdir -p $(BUILD)/tests/lua/auto && lua5.1 tests/lua/test_auto.lua $(BUILD)/tests/lua/auto
	lua5.1 tests/lua/test_policy.lua $(BUILD)/tests/lua/pmem.conf
	diff -u <($(PRINT_MODES)) <(lua5.1 tests/lua/print_modes.lua)
	diff -u <($(PRINT_KEYS) | sort) <(lua5.1 tests/lua/print_config.lua keys | sort)
	PM_BUILD=$(abspath $(BUILD)) tests/lua/test_agreement.sh
	tests/lua/test_constraints.py $(PRINT_CONSTRAINTS)

# In three parts, each on a bench of its own: most of a test is waiting for Slurm.
BENCH_2 := $(wildcard tests/slurm/07*.bats tests/slurm/08*.bats tests/slurm/15*.bats)
BENCH_3 := $(wildcard tests/slurm/09*.bats tests/slurm/10*.bats tests/slurm/11*.bats tests/slurm/12*.bats)
# Tests of a moment between two daemons, most of which wait for a time limit: check-all runs them.
BENCH_RACES := tests/slurm/083-late-change.bats
# Slurm as sites run it, a row of docs/admin/compatibility.md each: check-all runs them, on both releases.
# The 3*.bats are not of sites: they show what Slurm does where we rely on it, and policies that hold for longer than make check has.
BENCH_UPGRADE := tests/slurm/265-slurm-upgrade.bats
BENCH_SITES := $(filter-out $(BENCH_UPGRADE),$(wildcard tests/slurm/2*.bats tests/slurm/3*.bats))
BENCH_1 := $(filter-out $(BENCH_2) $(BENCH_3) $(BENCH_SITES) $(BENCH_UPGRADE),$(wildcard tests/slurm/*.bats))
BENCH_PARTS := run-bench-1 run-bench-2 run-bench-3

.PHONY: build-bench run-bench $(BENCH_PARTS) run-bench-races run-bench-trixie run-sites run-sites-here run-sites-trixie run-slurm-upgrade
build-bench: programs $(BUILD)/tests/pmshim.so $(BUILD)/tests/uptime.so
run-bench: $(BENCH_PARTS)
$(BENCH_PARTS): run-bench-%: build-bench
	PM_BUILD=$(abspath $(BUILD)) $(BATS) --timing $(filter-out $(BENCH_RACES),$(BENCH_$*))
run-bench-races: build-bench
	PM_BUILD=$(abspath $(BUILD)) $(BATS) $(BENCH_RACES)
# The same on Debian 13's Slurm 24.11, in a root file system of that release that is made once.
run-bench-trixie:
	tests/cluster/root trixie make --keep-going --no-print-directory BUILD=$(BUILD)/trixie run-bench
# Flat memory between jobs runs on the emulated machine alone, and takes a minute.
run-sites: check-unit-idle run-sites-here run-sites-trixie
run-sites-trixie:
	tests/cluster/root trixie make --no-print-directory BUILD=$(BUILD)/trixie run-sites-here
run-sites-here: build-bench
	PM_BUILD=$(abspath $(BUILD)) $(BATS) --timing $(BENCH_SITES)
# Debian sid's Slurm 26.05: modes there, and the upgrade to it from Debian 13's 24.11 with jobs in the queue.
run-slurm-upgrade:
	tests/cluster/root sid make --no-print-directory BUILD=$(BUILD)/sid build-bench
	tests/cluster/root sid env PM_BUILD=$(abspath $(BUILD))/sid $(BATS) --timing tests/slurm/010-option.bats tests/slurm/030-modes.bats
	tests/cluster/root trixie make --no-print-directory BUILD=$(BUILD)/trixie build-bench
	tests/cluster/root trixie,sid env PM_BUILD=$(abspath $(BUILD))/trixie PM_BUILD_NEXT=$(abspath $(BUILD))/sid \
		$(BATS) --timing $(BENCH_UPGRADE)
