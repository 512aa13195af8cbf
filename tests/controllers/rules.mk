# Two controllers, each on a bench of its own: this host's Slurm, and Debian 13's. check-all runs them.
.PHONY: run-controllers run-controllers-here run-controllers-trixie
run-controllers: run-controllers-here run-controllers-trixie
run-controllers-trixie:
	tests/cluster/root trixie make --no-print-directory BUILD=$(BUILD)/trixie run-controllers-here
run-controllers-here: build-bench
	PM_BUILD=$(abspath $(BUILD)) $(BATS) --timing tests/controllers
