# The emulated cluster: its parts without a guest, then one cluster for all tests, and the product on both releases.
.PHONY: check-twin-unit
run-unit: check-twin-unit
check-twin-unit:
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/twin

.PHONY: run-twin run-twin-trixie run-twin-bookworm
run-twin: run-twin-trixie run-twin-bookworm
run-twin-trixie:
	TWIN_SUITE=trixie bats tests/twin
run-twin-bookworm:
	TWIN_SUITE=bookworm bats tests/twin/200-modes.bats tests/twin/300-faults.bats
