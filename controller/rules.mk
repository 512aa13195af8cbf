# Beside slurmctld: the service pm-controller, and its client
# prolog_slurmctld, which is slurmctld's PrologSlurmctld; pm-resume, which is its ResumeProgram.
MUNGE_LIBS ?= -lmunge
SLURM_LIBS ?= -lslurm

CONTROLLER_SRCS := $(addprefix controller/,main.c slurm_conf.c memory_sizes.c federation.c slurmctld_options.c service.c control.c own_host.c cluster.c server.c peer.c rate.c waiters.c holds.c candidates.c rejected_jobs.c rejection.c reinstate.c user_hold.c modes_file.c reader_file.c old_files.c history.c history_table.c history_site.c child.c groups_file.c clusters_file.c notify.c state_file.c node_features.c reboots.c off_modes.c overview.c page.c reboot_sums.c affected.c announce.c explain.c job_lines.c reports.c substates.c hold_rule.c leases.c lease_licence.c lease_note.c lease_array.c lease_table.c permit_rule.c permit_limits.c permits.c job_update.c partition_nodes.c usable_nodes.c)
PROLOG_SRCS := controller/prolog_slurmctld.c
RESUME_SRCS := controller/pm_resume.c controller/cluster.c

$(call objects,$(sort $(CONTROLLER_SRCS) $(RESUME_SRCS))): PM_CFLAGS += $(SLURM_CFLAGS)

$(BUILD)/pm-controller: $(call objects,$(CONTROLLER_SRCS)) $(call archives,protocol site plan model base)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(SLURM_LIBS) $(MUNGE_LIBS) $(JSON_LIBS)

$(BUILD)/prolog_slurmctld: $(call objects,$(PROLOG_SRCS)) $(call archives,protocol site plan model base)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(JSON_LIBS)

$(BUILD)/pm-resume: $(call objects,$(RESUME_SRCS)) $(call archives,site plan model base)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(SLURM_LIBS) $(JSON_LIBS)

programs: $(BUILD)/pm-controller $(BUILD)/prolog_slurmctld $(BUILD)/pm-resume

-include $(patsubst %.c,$(BUILD)/%.d,$(sort $(CONTROLLER_SRCS) $(PROLOG_SRCS) $(RESUME_SRCS)))
