# pmctl, the agent of a node.
AGENT_SRCS += agent/main.c agent/options.c agent/verbs.c agent/say.c agent/print.c \
	agent/signals.c agent/tools.c agent/state.c agent/observe.c agent/change.c agent/admission.c agent/settle.c agent/unwanted.c \
	agent/verb_mode.c agent/verb_set.c agent/verb_reboot.c agent/verb_verify.c \
	agent/verb_health.c agent/verb_helper.c agent/verb_job.c agent/verb_turn_away.c agent/verb_journal.c \
	agent/verb_show_config.c

# What jobs are given, and how it is wiped.
AGENT_SRCS += agent/wipe.c agent/crypto_erase.c agent/file_system.c agent/limits.c agent/places.c \
	agent/room.c agent/sweeper.c agent/verb_sweep.c agent/job.c agent/job_memory.c

# What people see.
AGENT_SRCS += agent/verb_show.c agent/show_node.c agent/show_regions.c agent/show_text.c
AGENT_SRCS += agent/verb_gather.c agent/gather_kernel.c agent/gather_tools.c

# What is made of the regions below the platform mode.
AGENT_SRCS += agent/survey.c agent/actions.c agent/place.c agent/knob.c agent/demotion.c agent/caches.c \
	agent/flat.c agent/substate.c agent/recover.c agent/verb_recover.c agent/would.c agent/verb_provision.c agent/verb_pin.c \
	agent/verb_reachable.c

$(BUILD)/pmctl: $(call objects,$(AGENT_SRCS)) $(BUILD)/libpm.a
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(JSON_LIBS) $(XML_LIBS) $(MUNGE_LIBS)
