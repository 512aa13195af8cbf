# pmctl, the agent of a node. It runs pmreport, which is beside it.
$(BUILD)/pmctl: | $(BUILD)/pmreport
$(BUILD)/pmreport: pmreport/pmreport
	@ln -sfn $(abspath $<) $@

AGENT_SRCS := $(wildcard agent/*.c)

$(BUILD)/pmctl: $(call objects,$(AGENT_SRCS)) $(LIBRARIES)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -o $@ $^ $(JSON_LIBS) $(XML_LIBS) $(HWLOC_LIBS) $(MUNGE_LIBS)
