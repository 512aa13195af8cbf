# Programs under other ways of placing memory and ours, judged by the meter. EVALUATE_ARGS=--all has all programs.
.PHONY: evaluate
evaluate:
	@./setup build twin check speed
	@$(MAKE) --no-print-directory all meter
	tests/evaluate/evaluate --build $(BUILD) $(EVALUATE_ARGS)
