# The performance model in virtual time: its simulator by hand-made cases. tests/model/regret is a measurement.
.PHONY: check-model-simulator
run-unit: check-model-simulator
check-model-simulator:
	@PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/model
