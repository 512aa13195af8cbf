# The emulated cluster: its parts without a guest, then one cluster for all tests, and the product on both releases.
.PHONY: check-twin-unit
run-unit: check-twin-unit
check-twin-unit:
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/twin

# Runs in guests of any release, so it brings its library along.
$(BUILD)/tests/pattern: tests/twin/programs/pattern.c
	@mkdir -p $(@D)
	$(CC) -static $(CFLAGS) $(WARNINGS) -o $@ $<

# $(call twin_bats,SUITE,TAGS,FILES)
twin_bats = PM_BUILD=$(abspath $(BUILD)) TWIN_SUITE=$(1) $(BATS) --timing --filter-tags '$(2)' $(3:%=tests/twin/%.bats)

.PHONY: run-image-trixie
run-image-trixie:
	twin/pmtwin --suite trixie build

# A cluster of the newer release; what takes long, and the older one, are left to run-modes.
.PHONY: run-twin
run-twin:
	$(call twin_bats,trixie,!long,010-commands 020-power 200-modes 210-constraints 300-faults 400-transitions)

# The long way round: every sub-state and every kind of job by hand, every pair of modes and every secret by jobs; on the
# older release also the tests of each day ("none" is no test's tag).
.PHONY: run-modes run-modes-trixie run-modes-bookworm
run-modes: run-modes-trixie run-modes-bookworm run-containers run-security run-accounting-trixie run-accounting-bookworm
run-modes-trixie: $(BUILD)/tests/pattern
	$(call twin_bats,trixie,long,020-power 200-modes 210-constraints 250-substates 255-idle 260-jobs 270-mess 300-faults 350-memory 400-transitions 450-secrets 290-report 560-calibrate \
		600-required-nodes)
run-modes-bookworm: $(BUILD)/tests/pattern
	$(call twin_bats,bookworm,!none,200-modes 300-faults 350-memory 400-transitions 450-secrets \
		600-required-nodes)
	TWIN_SHAPE='--nodes 1' $(call twin_bats,bookworm,long,250-substates 255-idle 260-jobs)

# Slurm's accounting, in an image of its own.
.PHONY: run-accounting-trixie run-accounting-bookworm
run-accounting-trixie run-accounting-bookworm: run-accounting-%:
	TWIN_SHAPE='--nodes 1 --accounting' $(call twin_bats,$*,!none,280-accounting)

# Go's registry has Apptainer's source, and Debian 13 a compiler of Go that is new enough. Behind a proxy the host may have a
# certificate that Debian 13 has not.
$(BUILD)/tests/apptainer.tar: tests/twin/programs/apptainer
	@mkdir -p $(@D)
	cp /etc/ssl/certs/ca-certificates.crt $(@D)
	tests/cluster/root trixie env SSL_CERT_FILE=$(abspath $(@D))/ca-certificates.crt $(abspath $<) $(abspath $@)

# Jobs in mount namespaces of their own, in an image with a module of PAM; containers of Apptainer; a site's health check;
# suspended jobs. What 22.05 does not have, and Apptainer as Debian 13 builds it, is tagged newer.
OLDER := long,!newer
.PHONY: run-containers run-containers-trixie run-containers-bookworm
run-containers: run-containers-trixie run-containers-bookworm
run-containers-trixie: $(BUILD)/tests/apptainer.tar
	TWIN_SHAPE='--nodes 1 --packages libpam-slurm-adopt' $(call twin_bats,trixie,long,300-containers 310-health 320-suspend)
run-containers-bookworm:
	TWIN_SHAPE='--nodes 1 --packages libpam-slurm-adopt' $(call twin_bats,bookworm,$(OLDER),300-containers 310-health 320-suspend)

# The security modules that Debian's kernels have, which the twin's leave out, and cgroup v1, which Debian 12's kernel has.
# One image of each release for both modules.
SECURITY := apparmor,auditd,policycoreutils-python-utils,selinux-basics,selinux-policy-default
.PHONY: run-security run-security-trixie run-security-bookworm run-selinux-trixie run-selinux-bookworm
run-security: run-security-trixie run-security-bookworm run-selinux-trixie run-selinux-bookworm
run-security-trixie:
	TWIN_SHAPE='--nodes 1 --packages $(SECURITY)' $(call twin_bats,trixie,long,330-security)
run-security-bookworm:
	TWIN_SHAPE='--nodes 1 --packages $(SECURITY)' $(call twin_bats,bookworm,long,330-security 340-cgroup-v1)

# Each file of the image gets a label on the node's own disk, so this is a cluster of its own.
run-selinux-trixie run-selinux-bookworm: run-selinux-%:
	TWIN_SHAPE='--nodes 1 --packages $(SECURITY)' $(call twin_bats,$*,long,360-selinux)

# What ranks get, with MPI programs, and codes that people run: a node with two cores a socket, and an image with two MPIs,
# what compiles for them, the codes, and what docs/user/containers.md needs.
RANKS_PACKAGES := bubblewrap,gcc,hpcc,lammps,libmpich-dev,libopenmpi-dev,mpich,openmpi-bin,python3-numpy
.PHONY: run-ranks
run-ranks: $(BUILD)/tests/runtime/pic $(BUILD)/tests/runtime/bss $(BUILD)/tests/runtime/streams $(BUILD)/tests/runtime/tiers $(BUILD)/tests/runtime/advise
	TWIN_SHAPE='--nodes 1 --cores 2 --packages $(RANKS_PACKAGES)' \
		$(call twin_bats,trixie,long,500-ranks 510-templates 520-runtime 530-placement 570-docs)
	TWIN_SHAPE='--nodes 1 --cores 3' $(call twin_bats,trixie,long,540-streams 550-tiers)
