# The stand-ins for hardware that the bench preloads: PMem into ipmctl, a machine's uptime into slurmd. Included by
# tests/machine/rules.mk.
# No _FORTIFY_SOURCE: with it glibc's own inline open() would clash with the one defined here.
$(BUILD)/tests/pmshim.so: tests/machine/shim/pmshim.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) -fPIC -shared $(CFLAGS) -U_FORTIFY_SOURCE $(RELRO) -o $@ $< -ldl

$(BUILD)/tests/uptime.so: tests/machine/shim/uptime.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) -fPIC -shared $(CFLAGS) $(RELRO) -o $@ $<
