# How much of exactly counted traffic the advice serves, on traces of real programs.
.PHONY: check-advice
run-unit: check-advice
check-advice:
	tests/advice/test_traces.py
