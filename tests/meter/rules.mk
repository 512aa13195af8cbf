# The meter: programs and the time model with the unit tests, a guest with those of the twin.
$(BUILD)/tests/meter/kernels: $(call objects,tests/meter/kernels.c)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^

-include $(BUILD)/tests/meter/kernels.d

METER_PYTEST = PYTHONDONTWRITEBYTECODE=1 PM_BUILD=$(abspath $(BUILD)) /usr/bin/python3 -m pytest -q -p no:cacheprovider

.PHONY: check-meter
run-unit: check-meter
check-meter: meter $(BUILD)/tests/meter/kernels $(BUILD)/tests/runtime/pic $(BUILD)/libpmplace.so $(BUILD)/pmrun
	$(METER_PYTEST) tests/meter/test_program.py tests/meter/test_time_model.py tests/meter/test_cli.py tests/evaluate/test_evaluate.py \
		tests/evaluate/test_judged.py tests/evaluate/test_papers.py

.PHONY: check-meter-guest
run-twin: check-meter-guest
check-meter-guest: meter $(BUILD)/tests/meter/kernels $(BUILD)/tests/runtime/pic $(BUILD)/libpmplace.so
	$(METER_PYTEST) tests/meter/guest
