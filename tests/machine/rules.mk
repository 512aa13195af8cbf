# The emulated machine: its model, its firmware rules, and the shim with real ipmctl.
include tests/machine/shim/rules.mk

.PHONY: check-machine
run-unit: check-machine
check-machine: $(BUILD)/tests/pmshim.so
	PYTHONDONTWRITEBYTECODE=1 PMSHIM=$(abspath $(BUILD))/tests/pmshim.so \
		/usr/bin/python3 -m pytest -q -p no:cacheprovider tests/machine
