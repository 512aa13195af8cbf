# The hold rule of the service (controller/hold_rule.c) in a simulated cluster. POLICY_SEEDS, POLICY_ARGS: see bench_policy.py.
HOLD_RULE_SO := $(BUILD)/tests/economy/hold_rule.so
POLICY_SEEDS ?= 5

$(HOLD_RULE_SO): controller/hold_rule.c controller/hold_rule.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -fPIC -shared -I. -o $@ $<

.PHONY: bench-policy
bench-policy: $(HOLD_RULE_SO)
	tests/economy/bench_policy.py --library $(abspath $(HOLD_RULE_SO)) --cache $(abspath $(BUILD))/tests/economy \
		--seeds $(POLICY_SEEDS) $(POLICY_ARGS)

# The same beside a real slurmctld, SPEED times faster than the trace: bench_policy_slurm.py. As root; 2 hours a run of 24 hours.
SPEED ?= 12
FASTER_SERVICE := $(BUILD)/tests/economy/pm-controller-$(SPEED)
FASTER_LEASES := $(FASTER_SERVICE).o

$(FASTER_LEASES): controller/lease_table.c $(wildcard controller/*.h)
	@mkdir -p $(@D)
	$(CC) $(PM_CFLAGS) $(SLURM_CFLAGS) $(EXTRA_CFLAGS) -DPM_LEASE_FASTER=$(SPEED) -c -o $@ $<

$(FASTER_SERVICE): $(filter-out $(BUILD)/controller/lease_table.o,$(call objects,$(CONTROLLER_SRCS))) $(FASTER_LEASES) \
		$(call archives,protocol site plan model base)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(SLURM_LIBS) $(MUNGE_LIBS) $(JSON_LIBS)

.PHONY: bench-policy-slurm
bench-policy-slurm: $(HOLD_RULE_SO) $(FASTER_SERVICE) build-bench
	tests/economy/bench_policy_slurm.py --library $(abspath $(HOLD_RULE_SO)) --build $(abspath $(BUILD)) \
		--service $(abspath $(FASTER_SERVICE)) --cache $(abspath $(BUILD))/tests/economy/slurm --speed $(SPEED) $(POLICY_ARGS)

HISTORY_SO := $(BUILD)/tests/economy/history.so

HISTORY_SRCS := controller/history_table.c controller/history_site.c site/modes.c base/list.c base/numbers.c

$(HISTORY_SO): $(HISTORY_SRCS) controller/history_table.h controller/history_site.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -fPIC -shared -I. -o $@ $(HISTORY_SRCS)

# AUTO_ARGS: see auto_regret.py.
.PHONY: bench-auto
bench-auto: $(HISTORY_SO)
	tests/economy/auto_regret.py --library $(abspath $(HISTORY_SO)) $(AUTO_ARGS)

# The job families by which a choice of memory modes is judged: what holds for all of them, and what a decision costs.
.PHONY: check-economy
run-unit: check-economy
check-economy:
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/economy
