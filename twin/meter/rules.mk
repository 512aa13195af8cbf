# The meter: plugins of QEMU that count what programs and guests load and store, with the models behind them.
METER_MODELS   := $(addprefix twin/meter/,cache.c instructions.c)
METER_PROGRAM  := $(addprefix twin/meter/,program.c objects.c) $(METER_MODELS)
METER_GUEST    := $(addprefix twin/meter/,guest.c traffic.c near_memory.c) $(METER_MODELS)
METER_PRELOAD  := twin/meter/allocations.c

METER := $(addprefix $(BUILD)/meter/,program.so guest.so allocations.so region)

.PHONY: meter
meter: $(METER)

$(call objects,$(METER_PROGRAM) $(METER_GUEST) $(METER_PRELOAD)): EXTRA_CFLAGS += -fvisibility=hidden
$(call objects,$(METER_PRELOAD)): EXTRA_CFLAGS += -fno-builtin

# QEMU has the functions that plugins call.
$(BUILD)/meter/program.so: $(call objects,$(METER_PROGRAM))
$(BUILD)/meter/guest.so: $(call objects,$(METER_GUEST))
$(BUILD)/meter/program.so $(BUILD)/meter/guest.so:
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

$(BUILD)/meter/allocations.so: $(call objects,$(METER_PRELOAD) runtime/advice/site.c)
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -static-libgcc -o $@ $^

$(BUILD)/meter/region: $(call objects,twin/meter/region.c)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -static -o $@ $^

-include $(patsubst %.c,$(BUILD)/%.d,$(METER_PROGRAM) $(METER_GUEST) $(METER_PRELOAD) twin/meter/region.c)
