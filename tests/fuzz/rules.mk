# Fuzz targets: build/fuzz/fuzz_NAME of each target_NAME.c, with clang, libFuzzer and sanitizers.
FUZZ_TARGETS := $(patsubst tests/fuzz/target_%.c,%,$(wildcard tests/fuzz/target_*.c))
FUZZ_TARGET  ?= $(FUZZ_TARGETS)
FUZZ_RUNS    ?= 10000000
FUZZ_BUILD   := $(BUILD)/fuzz
FUZZ_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_WRAP     = -Wl,--wrap=pm_file_read,--wrap=pm_file_read_fd,--wrap=pm_file_read_ours,--wrap=pm_secure_open
FUZZ_PROGRAMS = $(FUZZ_TARGETS:%=$(BUILD)/fuzz_%)

$(FUZZ_PROGRAMS): $(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/target_%.o $(BUILD)/tests/fuzz/fuzz.o $(LIBRARIES)
	$(CC) $(CFLAGS) $(FUZZ_SANITIZE) -fsanitize=fuzzer $(FUZZ_WRAP) -o $@ $^ $(JSON_LIBS) $(XML_LIBS)

.SECONDARY: $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/target_%.o)
-include $(wildcard $(BUILD)/tests/fuzz/*.d)

.PHONY: fuzz-programs build-fuzz
fuzz-programs: $(FUZZ_PROGRAMS)
build-fuzz:
	@$(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) CC=clang CFLAGS="-O1 -g" HARDEN=-fno-omit-frame-pointer \
		EXTRA_CFLAGS="$(FUZZ_SANITIZE) -fsanitize=fuzzer-no-link -Wno-format-nonliteral" fuzz-programs

# The full run goes on from the corpus of the one before; the short one is the same each time.
.PHONY: fuzz check-fuzz run-fuzz
fuzz:
	@./setup build fuzz
	@$(MAKE) --no-print-directory build-fuzz
	@tests/fuzz/run $(FUZZ_RUNS)+ $(FUZZ_BUILD) $(FUZZ_TARGET)
check-fuzz:
	@./setup build fuzz
	@$(MAKE) --no-print-directory run-fuzz
run-fuzz: build-fuzz
	@tests/fuzz/run 20000 $(FUZZ_BUILD) $(FUZZ_TARGET)
