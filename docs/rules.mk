MAN_SRCS  := $(wildcard docs/man/*.rst)
MAN_PAGES := $(patsubst docs/man/%.rst,$(BUILD)/man/%,$(MAN_SRCS))

.PHONY: man
man: $(MAN_PAGES)

$(BUILD)/man/%: docs/man/%.rst
	@mkdir -p $(@D)
	rst2man --strict $< $@

# The picture and the tables of docs/dev/architecture.md.
.PHONY: docs
docs:
	@docs/architecture.py

# What follows from site/keys.def and plan/options.def in other languages and in texts. It stands in the tree: Ansible,
# slurmctld and readers of the documents have no build.
.PHONY: tables
tables:
	@docs/tables.py
