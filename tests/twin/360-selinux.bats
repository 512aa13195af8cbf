#!/usr/bin/env bats
# Modes and memory limits where the kernel has SELinux with Debian's policy, on one node: docs/admin/compatibility.md has a row for
# each. The packages are those of run-selinux in rules.mk.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

# The words that Debian's kernels have by default, with SELinux in AppArmor's place.
SELINUX='lsm=landlock,lockdown,yama,integrity,selinux selinux=1 audit=1 audit_backlog_limit=8192'

# What the twin's disks need. Its root is an overlay that the kernel's own context has mounted, so whoever maps a file there uses a
# descriptor of the kernel's; and users' homes come by 9p, which Debian's policy does not know, in NFS's place.
TWIN='(allow domain kernel_t (fd (use)))
(genfscon "9p" "/" (system_u object_r nfs_t ((s0) (s0))))'

# Labels all files. Debian's service for that does not follow mounts, and takes each file of an overlay for a mount's, so it is not
# asked. Below /own the twin keeps the disk that lies over its image, with the same files.
setup_file() {
	load helpers
	load node_jobs
	load limits
	n1 'rm -f /.autorelabel'
	boot_with "$SELINUX"
	n1 "echo '$TWIN' >/root/twin.cil && semodule --install=/root/twin.cil
		restorecon -R -T 0 -e /own -e /proc -e /sys -e /home /"
	n1 "set -e; $(commands_of_the_page)"
}

# The label of the lock, as the page has it for administrators.
commands_of_the_page() { sed -n '/^    semanage /,/^$/p' "$ROOT/docs/admin/compatibility.md"; }

setup() {
	load helpers
	load jobs
	load node_jobs
	load limits
}

teardown() {
	on_head scancel --user=user1 || true
	restore_node n1
}

teardown_file() {
	load helpers
	load limits
	boot_with ''
}

# What Debian's policy denies to Debian's programs at each boot: it keeps systemd-tmpfiles from /root, /home, /etc/mtab and more, and
# on Debian 13 journald from the folder of its own credentials.
OF_DEBIAN='scontext=system_u:system_r:systemd_tmpfiles_t:|search.* comm="systemd-journal" name="/" dev="tmpfs"'

# What else the policy denies, or would, since forget_denials.
denials() { n1 "grep '^type=AVC' /var/log/audit/audit.log | grep --invert-match --extended-regexp '$OF_DEBIAN' || true"; }

forget_denials() { n1 '>/var/log/audit/audit.log'; }

# check_modes_with MODE OPTION: in that mode of SELinux's, which the kernel's option sets.
check_modes_with() {
	local services=$'active\nsystem_u:system_r:initrc_t:s0'
	boot_with "$SELINUX $2"
	run -0 n1 'getenforce; systemctl is-active auditd; cat /proc/$(pidof slurmd)/attr/current | tr "\0" "\n"'
	assert_output "$1"$'\n'"$services"
	forget_denials
	check_modes_and_limits
	run -0 n1 'getenforce; systemctl is-active auditd; cat /proc/$(pidof slurmd)/attr/current | tr "\0" "\n"'
	assert_output "$1"$'\n'"$services"
	run denials
	assert_output ''
}

@test "SELinux with Debian's policy, permissive: modes change, jobs have their memory and their directories, and nothing is denied" {
	check_modes_with Permissive enforcing=0
}

@test "SELinux with Debian's policy, enforcing: modes change, jobs have their memory and their directories, and nothing is denied" {
	check_modes_with Enforcing enforcing=1
}
