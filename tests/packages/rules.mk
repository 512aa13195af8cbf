# The packages of both releases: built, looked at, installed and removed again.
packages_bats = PM_PACKAGES=$(abspath $(BUILD))/deb PM_SUITE=$(1) $(BATS) tests/packages/$(2).bats

.PHONY: run-packages build-packages
run-packages: $(addprefix run-packages-,bookworm-010-built bookworm-020-installed trixie-020-installed bookworm-030-rpm bookworm-040-docs)
build-packages:
	packaging/deb $(BUILD)/deb bookworm
	packaging/deb $(BUILD)/deb trixie
	packaging/rpm $(BUILD)/rpm
run-packages-bookworm-%: build-packages
	$(call packages_bats,bookworm,$*)
run-packages-trixie-%: build-packages
	$(call packages_bats,trixie,$*)
