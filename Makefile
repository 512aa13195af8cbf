# slurm-pmem: `make help` lists what can be made. Every room adds its sources and rules in a rules.mk.
SHELL := /bin/bash
.DELETE_ON_ERROR:

VERSION := 0.1.0
BUILD   ?= build

prefix     ?= /usr
sysconfdir ?= /etc
bindir     ?= $(prefix)/bin
libexecdir ?= $(prefix)/libexec
includedir ?= $(prefix)/include
datadir    ?= $(prefix)/share
mandir     ?= $(datadir)/man
unitdir    ?= $(prefix)/lib/systemd/system
runtimedir ?= $(prefix)/lib/slurm-pmem
plugindir  ?= $(prefix)/lib/$(shell $(CC) -print-multiarch 2>/dev/null)/slurm-wlm

BATS := bats --print-output-on-failure

CC       ?= gcc
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
HARDEN   := -D_FORTIFY_SOURCE=2 -fstack-protector-strong
RELRO    := -Wl,-z,relro,-z,now

SLURM_CFLAGS ?= $(shell pkg-config --cflags slurm 2>/dev/null)
JSON_CFLAGS  := $(shell pkg-config --cflags json-c 2>/dev/null)
JSON_LIBS    := $(shell pkg-config --libs json-c 2>/dev/null)
XML_CFLAGS   := $(shell pkg-config --cflags libxml-2.0 2>/dev/null)
XML_LIBS     := $(shell pkg-config --libs libxml-2.0 2>/dev/null)
HWLOC_CFLAGS := $(shell pkg-config --cflags hwloc 2>/dev/null)
HWLOC_LIBS   := $(shell pkg-config --libs hwloc 2>/dev/null)

PM_CFLAGS = -std=gnu11 -fPIC -I. -DPM_VERSION='"$(VERSION)"' -DPM_BINDIR='"$(bindir)"' \
	-DPM_RUNTIMEDIR='"$(runtimedir)"' $(WARNINGS) $(HARDEN) \
	$(JSON_CFLAGS) $(XML_CFLAGS) $(HWLOC_CFLAGS) $(CPPFLAGS) $(CFLAGS)

AGENT_SRCS :=
LAUNCHER_SRCS :=
SPANK_SRCS :=

# Compiler lines are shown with V=1.
Q := $(if $(V),,@)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

# Rooms that are linked into programs, an archive each; each stands in front of those that it uses (CONTRIBUTING.md).
ROOMS := node/act node/wipe node/see node/state node/tools node protocol measure site plan/apply plan model copy base
# $(call archives,ROOM...): in that order, whatever the order of the words.
archives  = $(foreach room,$(filter $(1),$(ROOMS)),$(BUILD)/lib$(subst /,-,$(room)).a)
LIBRARIES = $(call archives,$(ROOMS))

.PHONY: all
all: programs man

include $(wildcard */rules.mk) $(wildcard tests/*/rules.mk)

.PHONY: programs
programs: $(BUILD)/pmctl $(BUILD)/pmrun $(BUILD)/spank_pmem.so $(BUILD)/pm-reachable

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC $<"
	$(Q)$(CC) $(PM_CFLAGS) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

-include $(patsubst %.c,$(BUILD)/%.d,$(AGENT_SRCS) $(SPANK_SRCS) $(LAUNCHER_SRCS))

.PHONY: help
help:
	@printf '%s\n' \
	'make demo         shows a job that changes a node'\''s memory mode, on an emulated cluster' \
	'make check        lint, fuzz, unit, ansible, bench, sequences, twin (installs what they need, says so first); half an hour' \
	'make check-all    these, and all check-… that takes long or is rarely needed, once and whole; many hours' \
	'make check-unit   library, emulated machine, lua: no Slurm, no guest; T=NAME: the tests of one file, in seconds' \
	'make check-bench  a real Slurm with several slurmd on this host, real ipmctl; needs root' \
	'make check-bench-races  what happens in a moment between two daemons, there; on a machine that does nothing else' \
	'make check-bench-trixie  the same on Debian 13'\''s Slurm, in a root file system that is made once' \
	'make check-sites  Slurm as sites run it: other ways to submit, partitions, preemption; on both releases' \
	'make check-slurm-upgrade  Slurm 24.11 becomes 26.05 with jobs in the queue; modes on 26.05; in root file systems' \
	'make check-controllers  two SlurmctldHosts, on both releases: fail-over, takeover, state that hangs' \
	'make check-fuzz   the parsers under a fuzzer, a short run; make fuzz is the long one' \
	'make check-twin   the emulated cluster' \
	'make check-ansible  the Ansible collection: linters, modules, playbooks on both releases; Python packages from PyPI' \
	'make check-ansible-twin  its playbooks on an emulated cluster that begins as plain Debian; half an hour' \
	'make check-runtime  the placement runtime: 64 threads for a minute in each configuration, valgrind; a quarter of an hour' \
	'make check-modes  the long way round: every sub-state and every pair of modes, on both releases' \
	'make check-ranks  MPI programs and job templates on the emulated cluster, and the processors and memory that they get' \
	'make check-faults jobs that need a mode change while something goes wrong; takes long' \
	'make check-faults-twin  the same for what needs a kernel, on the emulated cluster' \
	'make check-sequences  sequences that the test makes up: users, administrators and faults; half an hour' \
	'make check-sequences-twin  the same on the emulated cluster, with file systems and memory for users to make a mess of; an hour' \
	'make bench        what allocations and whole programs cost with the placement runtime and with others, what a profile does, and how fast batches are copied' \
	'make meter        the emulator plugins that count the memory traffic of programs and guests; twin/meter/pmmeter --help' \
	'make evaluate     programs of Debian under other ways of placing memory and ours, counted in guests; minutes a program' \
	'make papers       numbers that papers on these systems print, beside counts of small programs of the same kind; half an hour' \
	'make bench-policy  reboots and waits under the hold rule and others, in a simulated cluster; 20 minutes, a second time none' \
	'make bench-policy-slurm  24 hours of a trace on a real slurmctld with 64 slurmds, and in the simulator; 2 hours for each policy, needs root' \
	'make bench-auto   what --pm-mode=auto costs against the default mode and against an oracle, on made-up jobs; seconds' \
	'make lint         shellcheck, luacheck, cppcheck, clang-format, pyflakes, arrows between rooms' \
	'make tables       what follows from the tables of keys, modes and options: samples, manual pages, Lua, Ansible, completion' \
	'make docs         the picture of rooms and arrows in docs/dev/architecture.md, from the includes' \
	'make all          pmctl, pmrun, spank_pmem.so, libpmplace.so and the man pages, in $(BUILD)/' \
	'make install      DESTDIR=, prefix=, plugindir=, unitdir= are respected; also uninstall' \
	'make deb          Debian packages for this release, or SUITE=trixie; in $(BUILD)/deb/' \
	'make rpm          RPM packages, in $(BUILD)/rpm/' \
	'make check-packages  builds them for both releases, installs and purges them in chroots; needs root' \
	'make clean        removes $(BUILD)/'

# $(call room_rules,ROOM)
define room_rules
$(call archives,$(1)): $(call objects,$(wildcard $(1)/*.c))
	@rm -f $$@
	ar rcs $$@ $$^

-include $(patsubst %.c,$(BUILD)/%.d,$(wildcard $(1)/*.c))
endef
$(foreach room,$(ROOMS),$(eval $(call room_rules,$(room))))

# --- installation ---
INSTALL ?= install
pkglibexecdir = $(libexecdir)/slurm-pmem
pkgdatadir    = $(datadir)/slurm-pmem
completiondir = $(datadir)/bash-completion/completions
EXAMPLES      = $(wildcard etc/*.conf etc/*.lua etc/*/*.conf etc/*/*.yml etc/*/*.json)
LUA           = $(addprefix controller/,pmem.lua pmem_conf.lua pmem_constraint.lua pmem_nodes.lua pmem_groups.lua pmem_hold.lua pmem_auto.lua pmem_history.lua pmem_reboots.lua)
SCRIPTS       = agent/pm-helper agent/pm-reboot agent/pm-slurmd-booted controller/pm-reregister controller/prolog_poll
TEMPLATES     = $(wildcard job_templates/*/*)
UNITS         = agent/pmctl-verify.service controller/pm-controller.service \
	$(addprefix controller/pm-reregister,.service .timer) \
	$(addprefix agent/pmctl-metrics,.service .timer) $(addprefix controller/pmctl-metrics-cluster,.service .timer)
# pmtwin runs where its sources are and is not installed; its package brings the page.
INSTALLED_PAGES = $(filter-out %/pmtwin.1,$(MAN_PAGES))
man_section   = $(patsubst .%,man%,$(suffix $(1)))

# Texts name the folders of prefix=/usr; $(call place,MODE,FILE,TARGET) puts in those of this build.
place = $(INSTALL) -D -m $(1) /dev/null $(DESTDIR)$(3) && sed \
	-e 's|/usr/bin/pmctl|$(bindir)/pmctl|g' -e 's|/usr/libexec/slurm-pmem|$(pkglibexecdir)|g' \
	-e 's|/usr/share/slurm-pmem|$(pkgdatadir)|g' \
	-e 's|/usr/lib/x86_64-linux-gnu/slurm-wlm|$(plugindir)|g' $(2) >$(DESTDIR)$(3)

.PHONY: install
install: all
	$(INSTALL) -D -m 755 $(BUILD)/pmctl $(DESTDIR)$(bindir)/pmctl
	$(INSTALL) -D -m 755 $(BUILD)/pmrun $(DESTDIR)$(bindir)/pmrun
	$(INSTALL) -D -m 644 launcher/pmrun.bash $(DESTDIR)$(completiondir)/pmrun
	$(INSTALL) -D -m 644 $(BUILD)/spank_pmem.so $(DESTDIR)$(plugindir)/spank_pmem.so
	$(foreach program,pm-reachable pm-controller prolog_slurmctld pm-resume,$(INSTALL) -D -m 755 $(BUILD)/$(program) \
		$(DESTDIR)$(pkglibexecdir)/$(program) &&) true
	$(INSTALL) -D -m 644 $(BUILD)/libpmplace.so $(DESTDIR)$(runtimedir)/libpmplace.so
	$(INSTALL) -d $(DESTDIR)$(includedir)
	$(INSTALL) -m 644 runtime/pmplace.f90 runtime/pmplace.h runtime/pmplace.hpp $(DESTDIR)$(includedir)
	$(INSTALL) -D -m 755 pmreport/pmreport $(DESTDIR)$(pkgdatadir)/pmreport
	$(foreach file,$(wildcard pmreport/*/*.py),$(INSTALL) -D -m 644 $(file) \
		$(DESTDIR)$(pkgdatadir)/$(file:pmreport/%=%) &&) true
	ln -sfr $(DESTDIR)$(pkgdatadir)/pmreport $(DESTDIR)$(bindir)/pmreport
	$(foreach file,$(SCRIPTS),$(call place,755,$(file),$(pkglibexecdir)/$(notdir $(file))) &&) true
	$(foreach file,$(LUA),$(call place,644,$(file),$(pkgdatadir)/$(notdir $(file))) &&) true
	$(foreach file,$(UNITS),$(call place,644,$(file),$(unitdir)/$(notdir $(file))) &&) true
	$(foreach file,$(EXAMPLES),$(call place,644,$(file),$(pkgdatadir)/examples/$(file:etc/%=%)) &&) true
	$(foreach file,$(TEMPLATES),$(call place,644,$(file),$(pkgdatadir)/$(file)) &&) true
	$(foreach file,$(wildcard site/references/*.json),$(INSTALL) -D -m 644 $(file) \
		$(DESTDIR)$(pkgdatadir)/site-profiles/$(notdir $(file)) &&) true
	$(foreach page,$(INSTALLED_PAGES),$(INSTALL) -D -m 644 $(page) \
		$(DESTDIR)$(mandir)/$(call man_section,$(page))/$(notdir $(page)) &&) true

# Configuration and state stay: what an admin wrote and what a node remembers are not ours to remove.
.PHONY: uninstall
uninstall:
	rm -f $(addprefix $(DESTDIR)$(bindir)/,pmctl pmrun pmreport) $(addprefix $(DESTDIR)$(includedir)/,pmplace.f90 pmplace.h pmplace.hpp) $(DESTDIR)$(completiondir)/pmrun \
		$(DESTDIR)$(plugindir)/spank_pmem.so \
		$(addprefix $(DESTDIR)$(unitdir)/,$(notdir $(UNITS))) \
		$(foreach page,$(INSTALLED_PAGES),$(DESTDIR)$(mandir)/$(call man_section,$(page))/$(notdir $(page)))
	rm -rf $(DESTDIR)$(pkglibexecdir) $(DESTDIR)$(pkgdatadir) $(DESTDIR)$(runtimedir)

# --- tests; the public targets first see to their packages, then run in a make that finds them ---
# What check-all runs after check: run-NAME of each. The long ones come last, the next goes in front of them.
# Of the fault campaign it runs a sample of each kind and pair of modes; "make check-faults" runs all 1,800 injections.
CHECK_ALL := bench-races bench-trixie sites slurm-upgrade controllers sequences sequences-twin packages runtime ansible-tests ranks modes ansible-twin faults-twin faults

.PHONY: check check-all check-unit check-bench check-bench-races check-bench-trixie check-sites check-slurm-upgrade check-controllers check-twin check-ansible check-runtime check-modes check-ranks check-packages lint bench demo
check:
	@./setup build twin bench check fuzz lint ansible
	@tests/run-all
check-all:
	@./setup build twin bench check fuzz lint ansible package speed root
	@FAULTS_SAMPLE='--count 345 --benches 3' tests/run-all $(CHECK_ALL)
check-unit:
	@./setup build check bench
	@$(MAKE) --no-print-directory $(if $(T),run-unit-one,run-unit)
check-bench:
	@./setup build check bench
	@$(MAKE) --no-print-directory run-bench
check-bench-races:
	@./setup build check bench
	@$(MAKE) --no-print-directory run-bench-races
check-controllers:
	@./setup build check bench root
	@$(MAKE) --no-print-directory run-controllers
check-bench-trixie:
	@./setup root
	@$(MAKE) --no-print-directory run-bench-trixie
check-sites:
	@./setup build check bench root
	@$(MAKE) --no-print-directory run-sites
check-slurm-upgrade:
	@./setup build root
	@$(MAKE) --no-print-directory run-slurm-upgrade
check-twin:
	@./setup build check twin
	@$(MAKE) --no-print-directory run-twin
check-ansible:
	@./setup build bench check package ansible
	@$(MAKE) --no-print-directory run-ansible-all
check-runtime:
	@./setup build check speed
	@$(MAKE) --no-print-directory run-runtime
check-modes:
	@./setup build check twin
	@$(MAKE) --no-print-directory run-modes
check-ranks:
	@./setup build check twin
	@$(MAKE) --no-print-directory run-ranks
check-packages:
	@./setup build package
	@$(MAKE) --no-print-directory run-packages
lint:
	@./setup build lint
	@$(MAKE) --no-print-directory run-lint
bench:
	@./setup build speed
	@$(MAKE) --no-print-directory run-speed
demo:
	@./setup build twin
	@twin/demo

.PHONY: clean
clean:
	rm -rf $(BUILD)

.PHONY: run-lint
run-lint:
	@tests/lint
