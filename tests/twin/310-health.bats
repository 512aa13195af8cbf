#!/usr/bin/env bats
# The site's health check and its prologs where a kernel adds and removes memory, on one node: docs/admin/compatibility.md has a row for each.
# tests/slurm/nhc_stand_in does what NHC does.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

setup() {
	load helpers
	load jobs
	load node_jobs
	load reconfigure
}

setup_file() {
	load helpers
	load node_jobs
	load reconfigure
	# A check takes up to ten seconds of an emulated processor: at shorter intervals checks wait for each other.
	for_both 'cp /etc/slurm/slurm-pmem.conf /root/slurm-pmem.kept; cp /etc/slurm/pmem.conf /root/pmem.kept
		sed -i "s/^HealthCheckInterval=.*/HealthCheckInterval=20/" /etc/slurm/slurm-pmem.conf'
	pmtwin exec n1 -- bash -c 'cat >/usr/local/sbin/nhc; chmod 755 /usr/local/sbin/nhc' <"$BATS_TEST_DIRNAME/../slurm/nhc_stand_in"
	n1 ': >/etc/nhc.conf; : >/var/log/nhc.log; echo "SiteHealthCheckProgram=/usr/local/sbin/nhc /etc/nhc.conf /var/log/nhc.log" >>/etc/slurm/pmem.conf'
	restart_slurm
}

teardown() {
	on_head scancel --user=user1 || true
	n1 ': >/etc/nhc.conf'
	restore_node n1
}

teardown_file() {
	load helpers
	load node_jobs
	load reconfigure
	for_both 'cp /root/slurm-pmem.kept /etc/slurm/slurm-pmem.conf; cp /root/pmem.kept /etc/slurm/pmem.conf'
	restart_slurm
}

# MemTotal in a job of this mode, in kB: to $output.
memory_in() {
	run_sbatch 0 -w n1 --pm-mode="$1" <<<$'#!/bin/bash\nawk \'/^MemTotal:/ { print $2 }\' /proc/meminfo'
}

# learn MODE: a range for its memory, of a hundredth to both sides.
learn() {
	memory_in "$1"
	n1 "echo '* || [[ \$PM_MODE != $1 ]] || check_hw_physmem $((output * 99 / 100)) $((output * 101 / 100))' >>/etc/nhc.conf"
}

checks_of() { n1 "grep -c '^n1 $1 [0-9]* memory' /var/log/nhc.log || true"; }

is_checked_again() { [ "$(checks_of "$1")" -gt "$2" ]; }

# A job in the mode that goes on until its node was checked in it.
job_until_checked() {
	local before
	before=$(checks_of "$1")
	run_user 0 sbatch --parsable -w n1 --pm-mode="$1" --output=/dev/null --wrap='sleep 600'
	job=$output
	wait_for 300 is_checked_again "$1" "$before"
	on_head scancel "$job"
	wait_for 300 node_is n1 idle
}

@test "NHC's memory check with a range for each mode, flat among them: no node is offlined" {
	local mode
	for mode in appdirect flat; do
		learn "$mode"
	done
	for mode in flat appdirect flat; do
		job_until_checked "$mode"
	done
	learn memory
	job_until_checked memory
	job_until_checked appdirect
	run n1 "grep -E 'failed| none ' /var/log/nhc.log"
	assert_output ''
	run pmtwin exec head -- grep -c 'n1 reason set to: NHC' /var/log/slurm/slurmctld.log
	assert_output 0
}

@test "a check that hangs while a job begins and ends in flat is ended, and is the delay of neither" {
	local pid
	n1 'echo "* || sleep 7777" >/etc/nhc.conf'
	wait_for 120 n1 'pgrep -x -f "sleep 7777"'
	pid=$(n1 'pgrep -x -f "sleep 7777" | head -n 1')
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	assert_output 'n1 flat restarts 0'
	run ! n1 "kill -0 $pid"
	wait_for 300 node_is n1 idle
}

# scripts KEY LINE...: in slurm.conf, a program of the node's.
site_script() {
	local key=$1
	shift
	n1 "printf '%s\n' '#!/bin/bash' $(printf '%q ' "$@") >/usr/local/sbin/site-$key; chmod 755 /usr/local/sbin/site-$key"
	for_both "echo $key=/usr/local/sbin/site-$key >>/etc/slurm/slurm-pmem.conf"
}

@test "a site's Prolog finds the job's directories, TaskProlog has PM_DIR, Epilog finds nothing; one that fails leaves nothing" {
	local look='ls -d /mnt/slurm-pmem/socket*/job_$SLURM_JOB_ID 2>/dev/null | wc -l'
	site_script Prolog "echo prolog \${PM_DIR-none} \$($look) >>/var/log/seen" '! rm /root/fail 2>/dev/null'
	site_script Epilog "echo epilog \${PM_DIR-none} \$($look) >>/var/log/seen"
	site_script TaskProlog 'echo "export SITE=${PM_DIR##*/}"'
	restart_slurm
	run_sbatch 0 -w n1 --pm-mode=appdirect <<<$'#!/bin/bash\nsrun sh -c \'echo "$SITE ${PM_DIR##*/}"\'; echo secret >"$PM_DIR0/file"'
	assert_output --regexp '^job_[0-9]+ job_[0-9]+$'
	wait_for 300 node_is n1 idle
	run n1 'cat /var/log/seen'
	assert_output --regexp $'^prolog none [12]\nepilog none 0$'
	n1 'touch /root/fail'
	run_user 0 sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 120 is_out
	on_head scancel "$job"
	wait_for 60 n1 "! ls -d /mnt/slurm-pmem/socket*/job_* 2>/dev/null && ! ls /var/lib/slurm-pmem/jobs/$job.json 2>/dev/null"
	restore_node n1
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	assert_output 'n1 flat restarts 0'
}

is_out() { [[ $(node_state n1) == drain* ]]; }
