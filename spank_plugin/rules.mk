# The SPANK plugin: built against one Slurm series' headers (SLURM_CFLAGS), linked with hwloc,
# which slurmstepd has loaded anyway, but neither with libslurm nor with the code that reads tools' output.
SPANK_SRCS += $(addprefix spank_plugin/,dispatch.c option.c refuse.c settings.c request.c command.c \
	node.c active.c reboot.c local.c allocator.c slurmd.c job_script.c requirement.c prepare.c requeue.c cancel.c lost_reboot.c lost_prolog.c batch_step.c prolog_mark.c recheck.c skipped_prolog.c allocation.c reachable.c \
	task_env.c remote.c step.c rank.c user_binding.c target_cluster.c end_report.c job_output.c)

# pm-reachable, which HealthCheckProgram runs.
REACHABLE_SRCS := $(addprefix spank_plugin/,pm_reachable.c site_health.c reachable.c active.c reboot.c node.c command.c settings.c)

$(call objects,$(filter spank_plugin/%,$(SPANK_SRCS) $(REACHABLE_SRCS))): PM_CFLAGS += $(SLURM_CFLAGS) -D_GNU_SOURCE

# slurm_error() and spank_*() stay undefined: they come from the program that loads the plugin. It stays
# loaded (nodelete): slurmd's thread of recheck.c may sleep in it when slurmd ends.
$(BUILD)/spank_pmem.so: $(call objects,$(SPANK_SRCS)) $(call archives,node/state protocol node/tools node site plan/apply plan model base) spank_plugin/spank_pmem.lds
	$(CC) -shared $(CFLAGS) $(LDFLAGS) $(RELRO) -Wl,-z,nodelete -Wl,--version-script=spank_plugin/spank_pmem.lds \
		-o $@ $(filter %.o %.a,$^) $(JSON_LIBS) $(HWLOC_LIBS)

$(BUILD)/pm-reachable: $(call objects,$(REACHABLE_SRCS)) $(call archives,node/state protocol node/tools node site plan model base)
	$(CC) $(CFLAGS) $(LDFLAGS) $(RELRO) -o $@ $^ $(JSON_LIBS)

-include $(BUILD)/spank_plugin/pm_reachable.d $(BUILD)/spank_plugin/site_health.d
