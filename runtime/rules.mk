# libpmplace.so, the placement runtime that ranks preload. It needs the C library and jemalloc's code.
include runtime/jemalloc.mk
RUNTIME_SRCS := $(wildcard runtime/*/*.c)
programs: $(BUILD)/libpmplace.so

# Compilers know malloc() and would make its body a call of calloc(), which is our own.
$(call objects,$(RUNTIME_SRCS)): EXTRA_CFLAGS += -fvisibility=hidden -fno-builtin-malloc -fno-builtin-calloc \
	-fno-builtin-realloc -fno-builtin-free

# Model and copies are compiled for it: hidden, and without archives that other programs link.
$(BUILD)/libpmplace.so: $(call objects,$(RUNTIME_SRCS)) $(call archives,model copy) $(JEMALLOC) runtime/pmplace.map
	$(CC) -shared $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -Wl,-soname,libpmplace.so -Wl,-z,defs -static-libgcc \
		-Wl,--version-script=runtime/pmplace.map -Wl,--wrap=pmje_exp_grow_init -o $@ $(filter %.o %.a,$^)

-include $(patsubst %.c,$(BUILD)/%.d,$(RUNTIME_SRCS))
