# Sequences that a test makes up: users, administrators and faults on a bench, the promises checked after each step.
SEQUENCES_ARGS ?=
sequences_need = build-bench $(BUILD)/tests/pmfault.so

.PHONY: check-sequences run-sequences run-sequences-short check-sequences-twin run-sequences-twin check-sequences-pieces
check-sequences:
	@./setup build check bench
	@$(MAKE) --no-print-directory run-sequences
run-sequences: $(sequences_need) check-sequences-pieces
	status=0; for site in bench:500 power:150 preemption:150 controllers:100; do \
		tests/sequences/run --site $${site%:*} --steps $${site#*:} $(SEQUENCES_ARGS) || status=1; done; exit $$status

# The part of make check.
run-sequences-short: $(sequences_need) check-sequences-pieces
	tests/sequences/run --steps 50 --shrink 2 $(SEQUENCES_ARGS)

# On guests with kernels of their own: one twin for all, in a directory of its own.
check-sequences-twin:
	@./setup build check twin
	@$(MAKE) --no-print-directory run-sequences-twin
run-sequences-twin: export PMTWIN_DIR ?= $(abspath $(BUILD))/sequences-twin
run-sequences-twin: $(BUILD)/tests/pmfault.so check-sequences-pieces
	twin/pmtwin up --nodes 3 --fresh --timeout 600
	tests/sequences/run --site twin --steps 200 --shrink 0 $(SEQUENCES_ARGS); status=$$?; twin/pmtwin down; exit $$status

# What the oracle reads, and how it judges: without Slurm.
check-sequences-pieces:
	@PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/sequences
