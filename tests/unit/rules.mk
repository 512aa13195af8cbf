# Unit tests in C, a program each: build/tests/unit/test_*, run from the root, TAP on stdout.
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard $(addprefix tests/unit/,*/test_*.c */*/test_*.c)))

$(UNIT_TESTS): $(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/unit/scratch.o $(BUILD)/tests/unit/recorded.o $(BUILD)/tests/unit/loop.o $(LIBRARIES)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(JSON_LIBS) $(XML_LIBS) $(HWLOC_LIBS)

# What they test of the agent, of the launcher and of the runtime.
$(BUILD)/tests/unit/runtime/common/test_nodemask: $(BUILD)/runtime/common/nodemask.o
$(BUILD)/tests/unit/runtime/heap/test_space: $(BUILD)/runtime/heap/space.o
$(BUILD)/tests/unit/runtime/lifetime/test_lifetime: $(BUILD)/runtime/lifetime/lifetime.o
$(BUILD)/tests/unit/runtime/heap/test_named_ranges: $(BUILD)/runtime/heap/named_ranges.o
$(BUILD)/tests/unit/runtime/stream/test_promotion: $(addprefix $(BUILD)/runtime/,stream/promotion.o common/log.o)
$(BUILD)/tests/unit/runtime/stream/test_intervals: $(BUILD)/runtime/stream/intervals.o
$(BUILD)/tests/unit/runtime/profile/test_samples: $(addprefix $(BUILD)/runtime/profile/,perf_ring.o access_events.o)
$(BUILD)/tests/unit/runtime/stream/test_phase: $(addprefix $(BUILD)/runtime/,stream/phase.o common/log.o)
$(BUILD)/tests/unit/runtime/lifetime/test_infer: $(BUILD)/runtime/lifetime/infer.o
$(BUILD)/tests/unit/runtime/lifetime/test_sizing: $(addprefix $(BUILD)/runtime/,lifetime/sizing.o lifetime/promote.o)
$(BUILD)/tests/unit/runtime/lifetime/test_sizing: LDFLAGS += -Wl,--wrap=pm_nodemask_bind
$(BUILD)/tests/unit/runtime/heap/test_moved_pages: LDFLAGS += -Wl,--wrap=pm_nodemask_migrate,--wrap=pm_nodemask_elsewhere,--wrap=madvise
$(addprefix $(BUILD)/tests/unit/,runtime/heap/test_heap runtime/heap/test_prefault runtime/heap/test_moved_pages runtime/lifetime/test_lifetime \
	runtime/lifetime/test_sizing): $(addprefix $(BUILD)/runtime/,heap/heap.o heap/heap_range.o heap/moved_pages.o heap/space.o heap/live_bytes.o heap/size_predictor.o common/rank_registry.o \
	common/nodemask.o heap/settings.o common/log.o)
$(BUILD)/tests/unit/controller/test_prolog: LDFLAGS += -Wl,--wrap=sleep
$(BUILD)/tests/unit/controller/test_hold_rule: $(BUILD)/controller/hold_rule.o
$(BUILD)/tests/unit/controller/test_permit_rule: $(BUILD)/controller/permit_rule.o
$(BUILD)/tests/unit/controller/test_lease_note: $(addprefix $(BUILD)/controller/,lease_note.o lease_array.o)
$(BUILD)/tests/unit/controller/test_waiters: $(addprefix $(BUILD)/controller/,reader_file.o waiters.o rate.o modes_file.o partition_nodes.o cluster.o node_features.o reboots.o state_file.o)
$(BUILD)/tests/unit/controller/test_reboots: $(addprefix $(BUILD)/controller/,substates.o reboots.o reboot_sums.o announce.o overview.o page.o affected.o rejected_jobs.o candidates.o modes_file.o partition_nodes.o node_features.o state_file.o waiters.o cluster.o)
$(BUILD)/tests/unit/controller/test_off_modes: $(addprefix $(BUILD)/controller/,off_modes.o reboots.o modes_file.o partition_nodes.o node_features.o state_file.o waiters.o cluster.o)
$(BUILD)/tests/unit/controller/test_rejected_jobs: $(addprefix $(BUILD)/controller/,rejected_jobs.o rejection.o reinstate.o candidates.o waiters.o modes_file.o partition_nodes.o cluster.o node_features.o reboots.o state_file.o)
$(BUILD)/tests/unit/controller/test_groups_file: $(addprefix $(BUILD)/controller/,groups_file.o child.o)
$(BUILD)/tests/unit/controller/test_own_host: $(addprefix $(BUILD)/controller/,own_host.o cluster.o)
$(BUILD)/tests/unit/controller/test_cluster: $(BUILD)/controller/cluster.o
$(BUILD)/tests/unit/controller/test_holds: $(addprefix $(BUILD)/controller/,holds.o candidates.o waiters.o modes_file.o partition_nodes.o cluster.o node_features.o reboots.o state_file.o)
$(BUILD)/tests/unit/controller/test_memory_sizes: $(addprefix $(BUILD)/controller/,memory_sizes.o node_features.o)
$(BUILD)/tests/unit/controller/test_history: $(addprefix $(BUILD)/controller/,history.o history_table.o history_site.o lease_note.o old_files.o reader_file.o cluster.o)
$(BUILD)/tests/unit/controller/test_reports: $(addprefix $(BUILD)/controller/,page.o old_files.o reports.o job_lines.o reboots.o modes_file.o partition_nodes.o node_features.o state_file.o waiters.o cluster.o)
$(addprefix $(BUILD)/tests/unit/controller/,test_reports test_waiters test_reboots test_rejected_jobs test_holds test_own_host test_history test_memory_sizes test_cluster test_off_modes): JSON_LIBS += $(SLURM_LIBS)
$(BUILD)/tests/unit/agent/test_job_report: $(addprefix $(BUILD)/agent/,job_report.o job_report_cause.o job_report_text.o runtime_reports.o)
$(BUILD)/tests/unit/spank_plugin/test_job_output: $(BUILD)/spank_plugin/job_output.o
$(BUILD)/tests/unit/spank_plugin/test_job_output.o: PM_CFLAGS += $(SLURM_CFLAGS)
$(BUILD)/tests/unit/agent/test_drain_cause: $(BUILD)/agent/drain_cause.o
$(BUILD)/tests/unit/agent/test_tell_substate: $(BUILD)/agent/tell_substate.o
$(BUILD)/tests/unit/agent/test_metrics_text: $(BUILD)/agent/metrics.o
$(BUILD)/tests/unit/twin/meter/test_models: $(addprefix $(BUILD)/twin/meter/,cache.o near_memory.o objects.o instructions.o)
$(BUILD)/tests/unit/launcher/test_ranks: $(BUILD)/launcher/ranks.o
$(BUILD)/tests/unit/launcher/test_srun: $(BUILD)/launcher/srun.o

.SECONDARY: $(UNIT_TESTS:%=%.o)
-include $(UNIT_TESTS:%=%.d) $(BUILD)/tests/unit/scratch.d $(BUILD)/tests/unit/recorded.d $(BUILD)/tests/unit/loop.d

# They run no program that the sanitizers would say more about.
UNIT_ONCE := $(addprefix tests/unit/test_,pmtwin_docs.sh troubleshooting.py links.py compatibility.py metrics.py pmreport.py \
	site_profile_report.py templates.sh run_all.sh pages.py profile_page.py job_page.py man_pages.sh)

.PHONY: check-unit-c
check-unit-c: $(UNIT_TESTS) $(BUILD)/pmctl $(BUILD)/pmrun $(if $(UNIT_ONCE),man)
	@PM_BUILD=$(abspath $(BUILD)) tests/unit/run $(UNIT_TESTS) tests/unit/test_docs.sh tests/unit/test_pmrun_docs.sh $(UNIT_ONCE)

# make check-unit T=NAME: the tests of one file, test_NAME in any of the unit tests' languages or NAME.bats.
T_PROGRAMS = $(filter %/test_$(T),$(UNIT_TESTS)) $(wildcard tests/unit/test_$(T).py tests/unit/test_$(T).sh)
T_BATS     = $(wildcard tests/unit/$(T).bats)
T_PYTEST   = $(wildcard tests/*/test_$(T).py)
T_LUA      = $(wildcard tests/lua/test_$(T).lua)
.PHONY: run-unit-one
run-unit-one: $(filter %/test_$(T),$(UNIT_TESTS)) $(BUILD)/pmctl $(BUILD)/pmrun $(BUILD)/tests/pmshim.so $(if $(filter man_pages,$(T)),man)
	$(if $(strip $(T_PROGRAMS) $(T_BATS) $(filter-out tests/unit/%,$(T_PYTEST)) $(T_LUA)),,$(error no unit test is called '$(T)'; \
		there are: $(sort $(patsubst test_%,%,$(basename $(notdir $(UNIT_TESTS) $(wildcard tests/unit/test_*.py tests/unit/*.bats \
		tests/machine/test_*.py tests/twin/test_*.py tests/lua/test_*.lua)))))))
	$(if $(strip $(T_PROGRAMS)),@PM_BUILD=$(abspath $(BUILD)) tests/unit/run $(T_PROGRAMS))
	$(if $(T_BATS),PM_BUILD=$(abspath $(BUILD)) $(BATS) $(T_BATS))
	$(if $(filter-out tests/unit/% tests/ansible/%,$(T_PYTEST)),PYTHONDONTWRITEBYTECODE=1 PMSHIM=$(abspath $(BUILD))/tests/pmshim.so \
		/usr/bin/python3 -m pytest -q -p no:cacheprovider $(filter-out tests/unit/% tests/ansible/%,$(T_PYTEST)))
	$(if $(T_LUA),lua5.1 $(T_LUA) $(BUILD)/tests/lua/$(T))

# The same programs under the address and undefined-behaviour sanitizers; -O1 compiles in two thirds of the time, and has
# a warning of its own about a null string that is not printed.
.PHONY: check-unit-c-asan
check-unit-c-asan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan \
		EXTRA_CFLAGS="-O1 -Wno-format-overflow -fsanitize=address,undefined -fno-sanitize-recover=all" \
		HARDEN=-fno-omit-frame-pointer UNIT_ONCE= check-unit-c

# pmctl with real ipmctl on the emulated machine; needs root, without it the tests are skipped.
.PHONY: check-unit-pmctl
check-unit-pmctl: $(BUILD)/pmctl $(BUILD)/tests/pmshim.so
	PM_BUILD=$(abspath $(BUILD)) $(BATS) tests/unit/pmctl.bats

# Flat memory between jobs, on the emulated machine; a minute: run-sites has it.
.PHONY: check-unit-idle
check-unit-idle: $(BUILD)/pmctl $(BUILD)/tests/pmshim.so
	PM_BUILD=$(abspath $(BUILD)) $(BATS) tests/unit/idle.bats

# pmrun on this host, alone and under real mpirun of two kinds.
.PHONY: check-unit-pmrun
check-unit-pmrun: $(BUILD)/pmrun
	PM_BUILD=$(abspath $(BUILD)) $(BATS) tests/unit/pmrun.bats

# pmctl calibrate and pmctl model on this host.
.PHONY: check-unit-calibrate
check-unit-calibrate: $(BUILD)/pmctl
	PM_BUILD=$(abspath $(BUILD)) $(BATS) tests/unit/calibrate.bats

# A new key and a new option in a copy of the tree, which is built there.
.PHONY: check-unit-tables
check-unit-tables:
	@tests/unit/run tests/unit/test_tables.py

.PHONY: run-unit
run-unit: check-unit-c check-unit-c-asan check-unit-pmctl check-unit-pmrun check-unit-calibrate check-unit-tables

# The commands in README.md and the pages for users. "make install" is one of them, so all is built before.
.PHONY: check-unit-doc-commands
run-unit: check-unit-doc-commands
check-unit-doc-commands: all
	PM_BUILD=$(abspath $(BUILD)) tests/unit/run tests/unit/test_doc_commands.py
