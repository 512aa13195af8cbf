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

HISTORY_TABLE_SO := $(BUILD)/tests/economy/history_table.so

$(HISTORY_TABLE_SO): controller/history_table.c controller/history_table.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -fPIC -shared -I. -o $@ $<

# AUTO_ARGS: see auto_regret.py.
.PHONY: bench-auto
bench-auto: $(HISTORY_TABLE_SO)
	tests/economy/auto_regret.py --library $(abspath $(HISTORY_TABLE_SO)) $(AUTO_ARGS)

# The job families by which a choice of memory modes is judged: what holds for all of them, and what a decision costs.
.PHONY: check-economy
run-unit: check-economy
check-economy:
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/economy
