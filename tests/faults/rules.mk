# The fault campaign: what it preloads into pmctl and the tools, and the driver.
# No _FORTIFY_SOURCE: with it glibc's own inline open() would clash with the one defined here.
$(BUILD)/tests/pmfault.so: tests/faults/preload.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) -fPIC -shared $(CFLAGS) -U_FORTIFY_SOURCE $(RELRO) -o $@ $< -ldl

FAULTS_ARGS ?=
# How many injections check-all tries.
FAULTS_SAMPLE ?=

.PHONY: check-faults run-faults check-faults-twin run-faults-twin
check-faults:
	@./setup build check bench
	@$(MAKE) --no-print-directory run-faults
run-faults: build-bench $(BUILD)/tests/pmfault.so
	tests/faults/campaign $(FAULTS_ARGS) $(FAULTS_SAMPLE)

check-faults-twin:
	@./setup build check twin
	@$(MAKE) --no-print-directory run-faults-twin
run-faults-twin: $(BUILD)/tests/pmfault.so
	twin/pmtwin up --nodes 3
	tests/faults/twin $(FAULTS_ARGS); status=$$?; twin/pmtwin down; exit $$status
