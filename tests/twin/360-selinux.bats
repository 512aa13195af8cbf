#!/usr/bin/env bats
# Modes and memory limits where the kernel has SELinux with Debian's policy, and a killed pmctl there, on one node:
# docs/admin/compatibility.md has a row for each. The packages are those of run-selinux in rules.mk.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

# The words that Debian's kernels have by default, with SELinux in AppArmor's place.
SELINUX='lsm=landlock,lockdown,yama,integrity,selinux selinux=1 audit=1 audit_backlog_limit=8192'

# What the twin's disks need. Its root is an overlay that the kernel's own context has mounted, so whoever maps a file there uses a
# descriptor of the kernel's; and users' homes come by 9p, which Debian's policy does not know, in NFS's place.
TWIN='(allow domain kernel_t (fd (use)))
(genfscon "9p" "/" (system_u object_r nfs_t ((s0) (s0))))'

LOCK=/var/lib/slurm-pmem/lock

# A tool of pmctl's, by the name of its file, that waits before it changes anything until that file is removed: the first word is
# "create-namespace" for ndctl then, "-q" for mkfs.ext4. pmctl's PATH does not have the folder of this file.
WAITING='#!/bin/sh
case $1 in create-namespace | -q) while [ -e "$0" ]; do sleep 1; done ;; esac
exec "${0##*/}" "$@"'

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
	n1 "rm -f /usr/local/sbin/mkfs.ext4 /usr/local/sbin/ndctl; restorecon $LOCK" || true
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

# set_node_up MODE TYPE: SELinux in that mode, the lock with that label, and the node without namespaces. What the node has started
# before its files had labels is kernel_t, so it boots again.
set_node_up() {
	n1 'grep --quiet initrc_t /proc/self/attr/current' || boot_with "$SELINUX enforcing=1"
	use_mode n1 appdirect
	n1 'umount /mnt/slurm-pmem/socket?; ndctl destroy-namespace --force all' || true # there may be none
	n1 "chcon --type $2 $LOCK && setenforce $1"
	forget_denials
}

has_ended() { n1 "! [ -e /proc/$1 ]"; }

# Sets $tool to the pid of the tool that waits, if one does. A process of pmctl's own starts it.
tool_waits() { tool=$(n1 "pgrep --session $killed --full '^/bin/sh [^ ]* (create-namespace|-q) '"); }

# kill_pmctl_at TOOL KEY TYPE: pmctl makes file systems, and is killed when that tool, which that key of pmem.conf names and which has
# that label, is about to change something. Sets $killed and $tool to their pids.
kill_pmctl_at() {
	local path=/usr/local/sbin/$1
	n1 "set -e; echo '$WAITING' >$path; chmod 755 $path; chcon --type $3 $path
		grep -v '^$2=' /etc/slurm/pmem.conf >/root/waiting.conf; echo $2=$path >>/root/waiting.conf"
	killed=$(n1 'setsid pmctl --config=/root/waiting.conf provision fsdax </dev/null >/root/killed.out 2>&1 & echo $!')
	wait_for 60 tool_waits
	n1 "kill -KILL $killed"
	wait_for 60 has_ended "$killed"
}

# Another pmctl waits for the tool, and names it; it finds the change done when the tool has ended.
check_that_pmctl_waits_for() {
	run -1 n1 'pmctl provision fsdax'
	assert_output --regexp "lock '$LOCK': held by '.*$1.* \(pid $tool\), left behind by pmctl provision \(pid $killed\)"
	n1 "rm /usr/local/sbin/$1"
	run -0 n1 'pmctl provision fsdax; findmnt --noheadings --raw --output TARGET,FSTYPE | grep slurm-pmem'
	assert_line '/mnt/slurm-pmem/socket0 ext4'
	assert_line '/mnt/slurm-pmem/socket1 ext4'
	has_ended "$tool"
}

@test "SELinux with Debian's policy, enforcing: another pmctl waits for the mkfs.ext4 of a killed one, where the lock has its label" {
	set_node_up 1 fsadm_run_t
	kill_pmctl_at mkfs.ext4 MkfsExt4Path fsadm_exec_t
	run -0 n1 "tr '\0' '\n' </proc/$tool/attr/current"
	assert_output --partial :fsadm_t:
	check_that_pmctl_waits_for mkfs.ext4
	run denials
	assert_output ''
}

# The lock is denied to mkfs.ext4, and nothing else to anybody.
assert_lock_denied() {
	local line='denied  { read write } .* comm="mkfs.ext4" path="'$LOCK'" .*:fsadm_t:.*:var_lib_t:'
	denials >"$BATS_TEST_TMPDIR/denials"
	run -0 grep --count "$line" "$BATS_TEST_TMPDIR/denials"
	run -1 grep --invert-match "$line" "$BATS_TEST_TMPDIR/denials"
}

@test "SELinux with Debian's policy, enforcing: another pmctl waits for the mkfs.ext4 of a killed one, where the lock has no label" {
	set_node_up 1 var_lib_t
	kill_pmctl_at mkfs.ext4 MkfsExt4Path fsadm_exec_t
	run -0 n1 "tr '\0' '\n' </proc/$tool/attr/current"
	assert_output --partial :fsadm_t:
	check_that_pmctl_waits_for mkfs.ext4
	assert_lock_denied
}

@test "SELinux with Debian's policy, permissive: another pmctl waits for the mkfs.ext4 of a killed one, and the lock's label keeps a denial out of the log" {
	set_node_up 0 var_lib_t
	kill_pmctl_at mkfs.ext4 MkfsExt4Path fsadm_exec_t
	check_that_pmctl_waits_for mkfs.ext4
	assert_lock_denied
}

@test "SELinux with Debian's policy, enforcing: another pmctl waits for the ndctl of a killed one, whatever label the lock has" {
	set_node_up 1 var_lib_t
	kill_pmctl_at ndctl NdctlPath bin_t
	check_that_pmctl_waits_for ndctl
}
