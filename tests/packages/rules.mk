# The packages of both releases: built, looked at, installed and removed again.
packages_bats = PM_PACKAGES=$(abspath $(BUILD))/deb PM_SUITE=$(1) bats tests/packages/$(2).bats

.PHONY: run-packages
run-packages:
	packaging/deb $(BUILD)/deb bookworm
	packaging/deb $(BUILD)/deb trixie
	packaging/rpm $(BUILD)/rpm
	$(call packages_bats,bookworm,010-built)
	$(call packages_bats,bookworm,020-installed)
	$(call packages_bats,trixie,020-installed)
	$(call packages_bats,bookworm,030-rpm)
