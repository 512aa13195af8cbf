#!/usr/bin/env bats
# Modes and memory limits where the kernel has AppArmor, on one node: docs/admin/compatibility.md has a row for each. The packages
# are those of run-security in rules.mk.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

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
	pmtwin exec n1 -- bash -c 'rm -f /etc/apparmor.d/site.* /usr/local/bin/confined' || true
	boot_with ''
}

denials() { n1 "grep -c 'apparmor=\"DENIED\"' /var/log/audit/audit.log || true"; }

# The words that Debian's kernels have by default, as far as they matter here.
APPARMOR='lsm=landlock,lockdown,yama,integrity,apparmor audit=1'

@test "AppArmor with Debian's profiles: modes change, jobs have their memory and their directories, and nothing is denied" {
	boot_with "$APPARMOR"
	run -0 n1 'cat /sys/kernel/security/lsm; echo; systemctl is-active apparmor auditd; wc -l </sys/kernel/security/apparmor/profiles'
	assert_line --index 0 --partial apparmor
	assert_line --index 1 active
	assert_line --index 2 active
	check_modes_and_limits
	run denials
	assert_output 0
}

# profile FLAGS PROGRAM RULE...: loads a profile of the site's.
profile() {
	local flags=$1 program=$2 name=site.${2##*/}
	shift 2
	n1 "printf '%s\n' 'abi <abi/3.0>,' 'include <tunables/global>' '$program flags=($flags) {' ' include <abstractions/base>' $(printf '%q ' "$@") '}' \
		>/etc/apparmor.d/$name && apparmor_parser --replace /etc/apparmor.d/$name"
}

remove_profile() { n1 "apparmor_parser --remove /etc/apparmor.d/site.$1 && rm /etc/apparmor.d/site.$1"; }

denied() { n1 "grep 'apparmor=\"DENIED\"' /var/log/audit/audit.log || true"; }

# A program of users that may write to their home and to the job's directory.
@test "AppArmor with a site's profile for a program of users: it may write to \$PM_DIR" {
	n1 'grep -q apparmor /sys/kernel/security/lsm' || boot_with "$APPARMOR"
	use_mode n1 appdirect
	n1 'cp /usr/bin/dash /usr/local/bin/confined'
	profile enforce /usr/local/bin/confined '/mnt/slurm-pmem/** rw,' '/usr/local/bin/confined mr,' '/home/** rw,' '/dev/null rw,'
	run_sbatch 0 -w n1 --pm-mode=appdirect <<<$'#!/bin/bash
		confined -c \'echo written >$PM_DIR0/file; read line <$PM_DIR0/file; echo "$line"; echo no >/tmp/denied\' 2>&1
		true'
	assert_line written
	assert_line --partial 'Permission denied'
	run denied
	assert_line --partial 'profile="/usr/local/bin/confined" name="/tmp/denied"'
}

# As a site learns a profile: the programs that slurmstepd starts, pmctl among them, go by profiles of the kernel's for learning.
# In complain mode, too, these refuse what has no path, as the files of namespaces.
@test "AppArmor with a site's profile for slurmstepd in complain mode: jobs have their modes, and the node stays in service" {
	n1 'grep -q apparmor /sys/kernel/security/lsm' || boot_with "$APPARMOR"
	use_mode n1 flat
	local drained stepd
	stepd=$(n1 'readlink -f /usr/sbin/slurmstepd')
	profile complain "$stepd" '/etc/** r,'
	drained=$(drains)
	run_sbatch 0 -w n1 --pm-mode=appdirect <<<$'#!/bin/bash\necho "written in $(pmctl mode)" >$PM_DIR0/file; cat $PM_DIR0/file /proc/self/attr/current'
	assert_line --index 0 'written in appdirect'
	assert_line --index 1 --regexp "^$stepd//null-.* \(complain\)"
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	assert_output 'n1 flat restarts 0'
	wait_for 300 node_is n1 idle
	assert_equal "$(drains)" "$drained"
	remove_profile "${stepd##*/}"
}

# The profile forgets the state directory.
@test "AppArmor with a site's profile that keeps pmctl from its files: the node's reason and the job name the profile" {
	n1 'grep -q apparmor /sys/kernel/security/lsm' || boot_with "$APPARMOR"
	use_mode n1 appdirect
	profile enforce /usr/bin/pmctl 'capability,' 'network,' 'unix,' 'signal,' 'ptrace,' '/etc/** r,' '/usr/** mr,' '/proc/** r,' \
		'/sys/** rw,' '/dev/** rw,' '/run/** rwkl,' '/usr/bin/*ctl pux,' '/var/log/** rw,' '/mnt/** rw,'
	run_user 1+ srun -w n1 --pm-mode=flat pmctl mode
	assert_output --partial "open '/var/lib/slurm-pmem/lock': Permission denied: AppArmor's profile '/usr/bin/pmctl' confines this program"
	assert_drained n1 "open '/var/lib/slurm-pmem/lock': Permission denied: AppArmor's profile '/usr/bin/pmctl' confines this program"
	remove_profile pmctl
	restore_node n1
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	assert_output 'n1 flat restarts 0'
}
