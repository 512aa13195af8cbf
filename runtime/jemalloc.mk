# Builds the runtime's copy of jemalloc from its source, with a prefix before all names. Nothing is fetched here:
# packaging/jemalloc has left the source in the cache, and packages bring it unpacked (JEMALLOC_SOURCE).
JEMALLOC_SUM    := $(firstword $(file <packaging/jemalloc.sha256))
JEMALLOC_TAR    ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/slurm-pmem/sources/$(lastword $(file <packaging/jemalloc.sha256))
JEMALLOC_SOURCE ?= $(BUILD)/jemalloc/source
JEMALLOC        := $(BUILD)/jemalloc/objects/lib/libjemalloc_pic.a

$(JEMALLOC_TAR):
	@echo "make: jemalloc's source, '$@', is not there: run packaging/jemalloc, which fetches it" >&2; exit 1

$(BUILD)/jemalloc/source/configure: $(JEMALLOC_TAR) packaging/jemalloc.sha256
	@sha256sum --check --quiet <<<"$(JEMALLOC_SUM)  $<"
	@mkdir -p $(@D)
	tar -xf $< -C $(@D) --strip-components=1
	@touch $@

# With + the script shares make's jobs. make would then run it for make -n, too: the test of MAKEFLAGS prints it instead.
$(JEMALLOC): $(JEMALLOC_SOURCE)/configure runtime/jemalloc runtime/heap/jemalloc_calls.h
	+@$(if $(findstring n,$(firstword -$(MAKEFLAGS))),echo) \
		env CC="$(CC)" CFLAGS="$(HARDEN) $(CFLAGS)" packaging/logged $(BUILD)/jemalloc/build.log \
		runtime/jemalloc $(JEMALLOC_SOURCE) $(BUILD)/jemalloc/objects
