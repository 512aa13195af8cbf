# Programs under other ways of placing memory and ours, judged by the meter. EVALUATE_ARGS=--all has all programs.
EVALUATED := $(addprefix $(BUILD)/tests/evaluate/,minipic-whole minipic-whole-streams) $(BUILD)/tests/runtime/pic

.PHONY: evaluate
evaluate:
	@./setup build twin check speed
	@$(MAKE) --no-print-directory all meter $(EVALUATED)
	tests/evaluate/evaluate --build $(BUILD) $(EVALUATE_ARGS)

# Claims of papers, beside counts of small programs. minipic is compiled for one rank, without MPI.
PUBLISHED := $(addprefix $(BUILD)/tests/evaluate/,minipic minipic-streams arrays scatter hold) $(BUILD)/tests/runtime/pic

.PHONY: papers
papers:
	@./setup build twin check speed
	@$(MAKE) --no-print-directory all meter $(PUBLISHED)
	tests/evaluate/papers --build $(BUILD) $(PAPERS_ARGS)

$(BUILD)/tests/evaluate/minipic.c: examples/minipic/minipic.c tests/evaluate/published/marks.patch
	@mkdir -p $(@D)
	patch -s -o $@ $^

$(BUILD)/tests/evaluate/minipic-streams.c: $(BUILD)/tests/evaluate/minipic.c examples/minipic/streams.patch
	patch -s -o $@ $^

# Without marks: the evaluation counts whole programs.
$(BUILD)/tests/evaluate/minipic-whole.c: examples/minipic/minipic.c
	@mkdir -p $(@D)
	cp $< $@

$(BUILD)/tests/evaluate/minipic-whole-streams.c: examples/minipic/minipic.c examples/minipic/streams.patch
	@mkdir -p $(@D)
	patch -s -o $@ $^

$(addprefix $(BUILD)/tests/evaluate/,minipic minipic-streams minipic-whole minipic-whole-streams): %: %.c tests/evaluate/published/alone/mpi.h twin/meter/instructions.h runtime/pmplace.h
	$(CC) -std=gnu11 $(CFLAGS) -fopenmp -Itests/evaluate/published/alone -Iruntime -I. -o $@ $< -lm

# Loops as they are written: no call of memcpy() with its stores past the caches.
$(addprefix $(BUILD)/tests/evaluate/,arrays scatter hold): $(BUILD)/tests/evaluate/%: tests/evaluate/published/%.c twin/meter/instructions.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARNINGS) -fno-tree-loop-distribute-patterns -I. -o $@ $<
