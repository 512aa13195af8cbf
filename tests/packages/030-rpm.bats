#!/usr/bin/env bats
# The RPM packages, by rpm, in a root where what they need are Debian's packages, of which rpm knows nothing.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	make_root
	mkdir -p "$root/usr/lib64/slurm" "$root/usr/share/licenses" # of slurm and of filesystem
	files >"$root.before"
	by_rpm -i --nodeps "$PM_PACKAGES"/../rpm/*.rpm
}

teardown_file() {
	rm -rf --one-file-system "$root"
}

# Its database in a place that is not compared.
by_rpm() {
	HOME=$BATS_FILE_TMPDIR rpm --root "$root" --dbpath /tmp/rpm "$@"
}

ours() {
	by_rpm -qa --queryformat '%{NAME}\n' | sort
}

@test "RPM: all packages are in, with their files as they were packed" {
	run -0 ours
	assert_output "$(printf 'slurm-pmem-%s\n' client common controller node plugin runtime)"
	run -0 by_rpm -Va --nodeps
	assert_output ''
}

@test "RPM: the programs run, and nothing is started" {
	run -0 inside pmctl --version
	run -0 inside pmrun --version
	run -0 inside pmreport --help
	run -0 cat "$root/asked"
	refute_output --regexp '(^| )(re|try-re)?start( |$)'
}

@test "RPM: a program's allocations are served by the runtime" {
	run -0 inside PM_RANK_DRAM=67108864 PM_NODE_DRAM=0 PM_NODE_PMEM=0 PM_REPORT=/tmp/report \
		LD_PRELOAD=/usr/lib/slurm-pmem/libpmplace.so sort /etc/passwd
	refute_output --partial 'cannot be preloaded'
	run -0 python3 -c 'import json; told = json.loads(input()); print(told["program"], told["spaces"]["free"]["peak_bytes"] > 0)' \
		<"$root/tmp/report"
	assert_output 'sort True'
}

@test "RPM: the plugin stays as long as plugstack.conf requires it" {
	echo 'required spank_pmem.so' >"$root/etc/slurm/plugstack.conf.d/pmem.conf"
	run ! by_rpm -e --nodeps slurm-pmem-plugin
	assert_output --partial 'slurm-pmem-plugin: Slurm would refuse all jobs without it'
	rm "$root/etc/slurm/plugstack.conf.d/pmem.conf"
}

@test "RPM: the controller's files stay as long as slurmctld needs them" {
	cp "$root/usr/share/slurm-pmem/examples/job_submit.lua" "$root/etc/slurm"
	run ! by_rpm -e --nodeps slurm-pmem-controller
	assert_output --partial 'take slurm-pmem out of /etc/slurm/job_submit.lua first'
	rm "$root/etc/slurm/job_submit.lua"
}

@test "RPM: pmctl stays as long as it has something to wipe" {
	mkdir -p "$root/var/lib/slurm-pmem/jobs"
	touch "$root/var/lib/slurm-pmem/jobs/7.json"
	run ! by_rpm -e --nodeps slurm-pmem-node
	assert_output --partial 'jobs still hold persistent memory of this node'
	rm -r "$root/var/lib/slurm-pmem"
}

@test "RPM: installed over themselves they are whole, and what runs keeps its folders" {
	mkdir -p "$root/run/slurm-pmem" "$root/run/slurm-pmem-controller"
	by_rpm -U --nodeps --replacepkgs "$PM_PACKAGES"/../rpm/*.rpm
	assert [ -d "$root/run/slurm-pmem" ]
	assert [ -d "$root/run/slurm-pmem-controller" ]
	run -0 by_rpm -Va --nodeps
	assert_output ''
}

@test "RPM: erased, nothing is left" {
	mapfile -t names < <(ours)
	by_rpm -e --nodeps "${names[@]}"
	files | diff -u "$root.before" -
}
