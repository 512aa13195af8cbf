#!/usr/bin/env bats
# The pages' commands of apt, and those beside them, as they stand, in a chroot of $PM_SUITE: docs/admin/install.md and upgrade.md.
# shellcheck disable=SC2154,SC2016
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	make_root
	mkdir -p "$root/var/spool/slurm-state" "$root/blocks" "$root/etc/slurm/plugstack.conf.d"
	echo StateSaveLocation=/var/spool/slurm-state >>"$root/etc/slurm/slurm.conf"
	# Where a person would answer.
	echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/yes"
	"$BATS_TEST_DIRNAME/../docs/blocks.py" chroot "$root/blocks" >"$root.list"
}

teardown_file() {
	rm -rf --one-file-system "$root"
}

# type_in PAGE: its blocks, in the folder with the packages; the old ones there are the same.
type_in() {
	local at file count=0
	while read -r at file _ <&4; do
		[ "${at%:*}" = "docs/admin/$1" ] || continue
		run inside bash -e -c "cd /packages; $(sed 's/_OLD\*/_*/' "$file")"
		[ "$status" -eq 0 ] || fail "$at ended with $status: $output"
		count=$((count + 1))
	done 4<"$root.list"
	[ "$count" -gt 0 ] || fail "no block of $1"
}

@test "$PM_SUITE: install.md installs all packages of each machine" {
	type_in install.md
	run -0 inside dpkg-query -Wf '${db:Status-Status}\n' "${OURS[@]}" ipmctl
	assert_output "$(printf 'installed\n%.0s' "${OURS[@]}" ipmctl)"
}

@test "$PM_SUITE: upgrade.md upgrades them, and goes back" {
	cp "$root/usr/share/slurm-pmem/examples/plugstack.conf.d/pmem.conf" "$root/etc/slurm/plugstack.conf.d"
	echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$root/etc/slurm/plugstack.conf"
	: >"$root/asked"
	type_in upgrade.md
	run -0 cat "$root/asked"
	assert_line 'restart slurmctld'
	assert_line 'restart slurmd'
	assert_line 'stop slurmctld'
	assert [ -d "$root/root/slurmctld-state.before" ]
	assert [ -f "$root/root/etc-slurm.before/plugstack.conf" ]
	run -0 cat "$root/root/slurm-pmem.before"
	assert_line --partial slurm-pmem-node
}
