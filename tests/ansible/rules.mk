# The Ansible collection: what lints it, its modules on the emulated machine, its roles and playbooks.
ANSIBLE_VENV    := $(BUILD)/ansible-venv
COLLECTION_LINK := $(BUILD)/collections/ansible_collections/slurm_pmem/cluster

$(ANSIBLE_VENV)/done: tests/ansible/requirements.txt twin/site/requirements.txt
	@echo "installing $(words $(shell grep -h '^[a-z]' $^)) Python packages with what they need into $(@D)"
	@rm -rf $(@D)
	@/usr/bin/python3 -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# ansible-lint and ansible-test want a collection where a user would have it.
$(COLLECTION_LINK):
	@mkdir -p $(@D)
	@ln -sfn $(abspath ansible) $@

# The playbooks' tests have root file systems of these releases.
ANSIBLE_RELEASES ?= bookworm trixie
ansible_pytest = PYTHONDONTWRITEBYTECODE=1 PM_BUILD=$(abspath $(BUILD)) PM_RELEASES="$(ANSIBLE_RELEASES)" \
	$(ANSIBLE_VENV)/bin/python -m pytest -q -p no:cacheprovider
ANSIBLE_MODULE_TESTS = $(addprefix tests/ansible/test_,collection.py connection.py series.py pmem_info.py pmem_mode.py pmem_packages.py)

# run-ansible is the part of make check.
.PHONY: run-ansible run-ansible-all run-ansible-lint run-ansible-modules run-ansible-sanity run-ansible-tests \
	run-ansible-others $(ANSIBLE_RELEASES:%=run-ansible-site-%) check-ansible-twin run-ansible-twin ansible-readme
run-ansible: run-ansible-lint run-ansible-sanity run-ansible-modules
run-ansible-all: run-ansible-lint run-ansible-sanity run-ansible-tests

run-ansible-lint: $(ANSIBLE_VENV)/done $(COLLECTION_LINK)
	@PM_BUILD=$(abspath $(BUILD)) tests/ansible/lint

run-ansible-sanity: $(ANSIBLE_VENV)/done
	@PM_BUILD=$(abspath $(BUILD)) tests/ansible/sanity

run-ansible-modules: $(ANSIBLE_VENV)/done $(COLLECTION_LINK) programs $(BUILD)/tests/pmshim.so
	@$(ansible_pytest) $(ANSIBLE_MODULE_TESTS)

# What the roles install: packages of the releases that the tests' root file systems and guests are of. All that may be in them
# is older than they are.
PACKAGED := $(shell find . \( -path ./ansible -o -path ./tests -o -path './.*' -o -path './build*' -o -name __pycache__ \) -prune -o -type f -print)
$(BUILD)/deb/%: $(PACKAGED)
	@packaging/deb $(BUILD)/deb $*

# A playbook works on one thing after the other: two at a time.
run-ansible-tests: $(ANSIBLE_VENV)/done $(COLLECTION_LINK) build-bench $(ANSIBLE_RELEASES:%=$(BUILD)/deb/%)
	@$(MAKE) --no-print-directory -j2 --output-sync=target run-ansible-others $(ANSIBLE_RELEASES:%=run-ansible-site-%)
run-ansible-others:
	@$(ansible_pytest) --ignore=tests/ansible/test_twin.py --ignore=tests/ansible/test_site.py tests/ansible
$(ANSIBLE_RELEASES:%=run-ansible-site-%): run-ansible-site-%:
	@$(ansible_pytest) -k $* tests/ansible/test_site.py

# All playbooks on an emulated cluster that begins as plain Debian; half an hour on two cores.
ANSIBLE_TWIN_RELEASE ?= trixie
check-ansible-twin:
	@./setup build check package twin ansible
	@$(MAKE) --no-print-directory run-ansible-twin
run-ansible-twin: $(ANSIBLE_VENV)/done $(COLLECTION_LINK) $(BUILD)/deb/$(ANSIBLE_TWIN_RELEASE)
	@PM_TWIN_RELEASE=$(ANSIBLE_TWIN_RELEASE) $(ansible_pytest) --exitfirst tests/ansible/test_twin.py

# The roles' READMEs from their argument specifications.
ansible-readme: $(ANSIBLE_VENV)/done
	@$(ANSIBLE_VENV)/bin/python tests/ansible/readme
