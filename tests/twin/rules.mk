# The emulated cluster: its parts without a guest, then one cluster for all tests, and the product on both releases.
.PHONY: check-twin-unit
run-unit: check-twin-unit
check-twin-unit:
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/twin

# Runs in guests of any release, so it brings its library along.
$(BUILD)/tests/pattern: tests/twin/programs/pattern.c
	@mkdir -p $(@D)
	$(CC) -static $(CFLAGS) $(WARNINGS) -o $@ $<

# Three clusters, two at a time: guests wait for each other as much as they compute. The output of each comes in one piece.
TWIN_RUNS := run-twin-trixie run-twin-bookworm run-twin-modes

.PHONY: run-twin run-modes $(TWIN_RUNS)
run-twin: $(BUILD)/tests/pattern
	@echo "clusters, each prints when it has finished: $(TWIN_RUNS:run-twin-%=%)"
	@$(MAKE) --no-print-directory --keep-going -j2 --output-sync=target $(TWIN_RUNS)

# $(call twin_bats,SUITE,TAGS,FILES)
twin_bats = PM_BUILD=$(abspath $(BUILD)) TWIN_SUITE=$(1) bats --filter-tags '$(2)' $(3:%=tests/twin/%.bats)

run-twin-trixie:
	$(call twin_bats,trixie,!long,010-commands 020-power 200-modes 300-faults)
run-twin-bookworm:
	$(call twin_bats,bookworm,!long,200-modes 300-faults)
run-twin-modes: $(BUILD)/tests/pattern
	$(call twin_bats,trixie,!long,260-jobs 400-transitions 450-secrets)

# The long way round: every sub-state by hand, and every pair of modes by jobs, on both releases.
run-modes: $(BUILD)/tests/pattern
	$(call twin_bats,trixie,long,250-substates 400-transitions)
	$(call twin_bats,bookworm,long,400-transitions)
