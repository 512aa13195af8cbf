include twin/meter/rules.mk

# The agent of the twin's guests. pmtwin makes it with the headers and libraries of the guests' release.
PMTWIN_AGENT_SRCS := $(addprefix twin/guest/agent/,main.c clock.c frames.c session.c sysfs.c)

$(call objects,$(PMTWIN_AGENT_SRCS)): PM_CFLAGS += -D_GNU_SOURCE

$(BUILD)/pmtwin-agent: $(call objects,$(PMTWIN_AGENT_SRCS))
	$(CC) $(CFLAGS) $(LDFLAGS) $(RELRO) -o $@ $^

-include $(patsubst %.c,$(BUILD)/%.d,$(PMTWIN_AGENT_SRCS))
