# Programs of the measurements in tests/speed, made when they are run.
WIPE_SPEED := $(BUILD)/tests/speed/wipe_speed

$(WIPE_SPEED): $(WIPE_SPEED).o $(LIBRARIES)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^

-include $(WIPE_SPEED).d

END_SPEED := $(BUILD)/tests/speed/end_speed

$(END_SPEED): $(END_SPEED).o $(LIBRARIES)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^ -ljson-c -lxml2

-include $(END_SPEED).d

MALLOC_SPEED := $(BUILD)/tests/speed/malloc_speed

$(MALLOC_SPEED): $(MALLOC_SPEED).o
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

-include $(MALLOC_SPEED).d

COPY_SPEED := $(BUILD)/tests/speed/copy_speed

$(COPY_SPEED): $(COPY_SPEED).o $(call archives,copy)
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^

-include $(COPY_SPEED).d

SUBMIT_SPEED := $(BUILD)/tests/speed/submit_speed
HELD_BACK    := $(BUILD)/tests/speed/held_back.so

$(SUBMIT_SPEED): $(SUBMIT_SPEED).o
	$(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^ $(SLURM_LIBS)

$(HELD_BACK): $(BUILD)/tests/speed/held_back.o
	$(CC) -shared $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $^ -ldl

-include $(SUBMIT_SPEED).d $(BUILD)/tests/speed/held_back.d

.PHONY: build-controller-scale
build-controller-scale: programs $(SUBMIT_SPEED) $(HELD_BACK)

.PHONY: run-speed
run-speed: programs
	tests/speed/malloc-speed --build $(BUILD)
	tests/speed/copy-speed --build $(BUILD)
	tests/speed/program-speed --build $(BUILD)
	tests/speed/profile-cost --build $(BUILD)
