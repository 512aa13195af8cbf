# Beside slurmctld: the service pm-controller, the only program here that is linked with libslurm, and its client
# prolog_slurmctld, which is slurmctld's PrologSlurmctld.
MUNGE_LIBS ?= -lmunge
SLURM_LIBS ?= -lslurm

CONTROLLER_SRCS := $(addprefix controller/,main.c service.c control.c own_host.c cluster.c server.c peer.c rate.c waiters.c holds.c candidates.c rejected_jobs.c rejection.c reinstate.c user_hold.c modes_file.c notify.c state_file.c node_features.c reboots.c overview.c page.c reboot_sums.c affected.c announce.c explain.c job_lines.c reports.c substates.c)
PROLOG_SRCS := controller/prolog_slurmctld.c

$(call objects,$(CONTROLLER_SRCS)): PM_CFLAGS += $(SLURM_CFLAGS)

$(BUILD)/pm-controller: $(call objects,$(CONTROLLER_SRCS)) $(call archives,protocol site plan model base)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(SLURM_LIBS) $(MUNGE_LIBS) $(JSON_LIBS)

$(BUILD)/prolog_slurmctld: $(call objects,$(PROLOG_SRCS)) $(call archives,protocol site plan model base)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(JSON_LIBS)

programs: $(BUILD)/pm-controller $(BUILD)/prolog_slurmctld

-include $(patsubst %.c,$(BUILD)/%.d,$(CONTROLLER_SRCS) $(PROLOG_SRCS))
