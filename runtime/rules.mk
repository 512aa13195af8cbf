# libpmplace.so, the placement runtime that ranks preload. It needs the C library and jemalloc's code, which Debian has
# as a static library for shared ones; where there is none, the rest is made without the runtime.
RUNTIME_SRCS := $(wildcard runtime/*/*.c)
JEMALLOC_PIC ?= $(wildcard $(shell $(CC) -print-file-name=libjemalloc_pic.a 2>/dev/null))
RUNTIME_SO   := $(if $(JEMALLOC_PIC),$(BUILD)/libpmplace.so)
programs: $(RUNTIME_SO)

# Compilers know malloc() and would make its body a call of calloc(), which is our own.
$(call objects,$(RUNTIME_SRCS)): EXTRA_CFLAGS += -fvisibility=hidden -fno-builtin-malloc -fno-builtin-calloc \
	-fno-builtin-realloc -fno-builtin-free

# jemalloc under names of our own, without the constructor and the operators of C++.
$(BUILD)/runtime/libpmje.a: $(JEMALLOC_PIC) runtime/heap/jemalloc.syms
	@mkdir -p $(@D)
	objcopy --redefine-syms=runtime/heap/jemalloc.syms --remove-section=.init_array --remove-section=.rela.init_array \
		$< $@
	ar d $@ jemalloc_cpp.pic.o

$(BUILD)/libpmplace.so: $(call objects,$(RUNTIME_SRCS)) $(BUILD)/runtime/libpmje.a runtime/pmplace.map
	$(CC) -shared $(CFLAGS) $(EXTRA_CFLAGS) $(RELRO) $(LDFLAGS) -Wl,-soname,libpmplace.so -Wl,-z,defs -static-libgcc \
		-Wl,--version-script=runtime/pmplace.map -Wl,--wrap=je_exp_grow_init -o $@ $(filter %.o %.a,$^)

-include $(patsubst %.c,$(BUILD)/%.d,$(RUNTIME_SRCS))
