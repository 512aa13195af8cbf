# pmrun, the launcher: what the plugin does for srun, for everything else.
LAUNCHER_SRCS += $(addprefix launcher/,main.c options.c request.c ranks.c allowed.c srun.c proc_stat.c cache.c machine.c slurm_node.c \
	launch.c show.c run.c handover.c family.c program.c)

$(BUILD)/pmrun: $(call objects,$(LAUNCHER_SRCS)) $(call archives,node/state node/tools node site plan/apply plan model base)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(JSON_LIBS) $(HWLOC_LIBS)
