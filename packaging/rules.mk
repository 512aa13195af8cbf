# Packages, made of a copy of the sources.
.PHONY: deb rpm
deb:
	@./setup build package
	@packaging/deb $(BUILD)/deb $(SUITE)
rpm:
	@./setup build package
	@packaging/rpm $(BUILD)/rpm
