#!/usr/bin/env bats
# What users leave in $PM_DIR, on one node: whatever it is, the node stays in service and the next job begins.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

setup_file() {
	load helpers
	load jobs
	load node_jobs
	use_mode n1 appdirect
	n1 'pmctl recover'
	# Makes files until there is room for no more, with names of 255 bytes, then takes all bytes.
	pmtwin exec n1 -- tee /run/fill.py >/dev/null <<-'END'
		import os, sys
		os.chdir(sys.argv[1])
		made = 0
		try:
		    while made < 300000:
		        os.mknod(b"%08d" % made + b"\xff\n\t*" * 61 + b"end")
		        made += 1
		except OSError:
		    pass
		print(made, "files")
		try:
		    with open("big", "wb") as big:
		        while True:
		            big.write(bytes(1 << 20))
		except OSError:
		    pass
	END
	n1 'chmod 644 /run/fill.py'
}

setup() {
	load helpers
	load jobs
	load node_jobs
}

teardown() {
	n1 'kill $(cat /run/pm-test.pids 2>/dev/null); rm -f /run/pm-test.pids /etc/slurm/pmem-test.conf
		umount -l /mnt/slurm-pmem/socket0/job_*/in
		for job in 9001 9002 9003; do pmctl job end --job=$job; done; pmctl sweep' >&2 2>/dev/null || true
}

teardown_file() {
	n1 'pmctl provision empty'
}

# begin_fsdax ID USER OPTION…: with directories.
begin_fsdax() { begin "$@" --expect=appdirect; }

DIR=/mnt/slurm-pmem/socket0

is_clean() { n1 "! ls $DIR /mnt/slurm-pmem/socket1 | grep trash"; }

# hold_sweep: nothing is removed until the test's end, or until pmctl ends who holds it.
hold_sweep() {
	pmtwin exec n1 -- tee /run/hold.py >/dev/null <<-'END'
		import fcntl, os, time
		fd = os.open("/run/slurm-pmem/sweep.lock", os.O_RDWR | os.O_CREAT, 0o600)
		fcntl.lockf(fd, fcntl.LOCK_EX, 1, 0)
		cwd = os.open("/mnt/slurm-pmem/socket0", os.O_RDONLY)
		print("held", flush=True)
		time.sleep(600)
	END
	n1 'setsid python3 /run/hold.py </dev/null >/run/hold.out 2>&1 & echo $! >>/run/pm-test.pids'
	wait_for 20 n1 'grep -q held /run/hold.out'
}

# A job by Slurm takes all that there is, on the file system of $1.
check_full() {
	run -0 n1 "sed -i '/^FileSystem=/d' /etc/slurm/pmem.conf; echo FileSystem=$1 >>/etc/slurm/pmem.conf; pmctl provision empty"
	run_user 0 srun -w n1 --pm-mode=appdirect sh -c 'python3 /run/fill.py $PM_DIR0; cd $PM_DIR1
		python3 -c "import os; [(os.mkdir(\"d\"), os.chdir(\"d\")) for _ in range(4000)]"
		truncate -s 7E sparse || truncate -s 15T sparse; cat /dev/zero >rest; true'
	run_user 0 srun -w n1 --pm-mode=appdirect sh -c 'df -P $PM_DIR0 >&2; head -c 100M /dev/zero >$PM_DIR0/file && stat -c %s $PM_DIR0/file'
	assert_output 104857600
	wait_for 120 node_is n1 idle
	wait_for 120 is_clean
}

@test "ext4: a job that takes all bytes and all inodes leaves a node that serves the next" {
	check_full ext4
}

@test "xfs: the same" {
	check_full xfs
	n1 "sed -i '/^FileSystem=/d' /etc/slurm/pmem.conf; pmctl provision empty"
}

@test "mounts in the directory and on it are undone, what was mounted stays" {
	run -0 begin_fsdax 9001 user1
	n1 "mkdir -p /run/victim && touch /run/victim/file"
	run -0 as user1 "mkdir -p $DIR/job_9001/in"
	run -0 n1 "mount --bind /run/victim $DIR/job_9001/in; mount -t tmpfs none $DIR/job_9001/in; mount -t tmpfs none /mnt/slurm-pmem/socket1/job_9001"
	run -0 end 9001
	run -0 n1 "ls /run/victim; ls $DIR /mnt/slurm-pmem/socket1"
	assert_line file
	refute_output --partial job_
	run -1 n1 'grep job_9001 /proc/self/mountinfo'
	wait_for 60 is_clean
}

@test "mounts of a user's own, of servers that never answer, are undone" {
	pmtwin copy "$ROOT/tests/sequences/guest/mess" n1:/run/mess
	n1 'chmod 755 /run/mess; modprobe fuse; chmod 666 /dev/fuse'
	run -0 begin_fsdax 9001 user1
	run -0 as user1 "SLURM_JOB_ID=9001 SLURMD_NODENAME=n1 /run/mess mounts $DIR/job_9001"
	run -0 n1 'grep -c "job_9001/.* fuse" /proc/self/mountinfo'
	assert_output 2
	run -0 end 9001
	run -1 n1 'grep job_9001 /proc/self/mountinfo'
	run -0 begin_fsdax 9002 user2
	wait_for 60 is_clean
}

@test "a process that has left its job holds nothing up but a change of mode" {
	run -0 begin_fsdax 9001 user1
	as user1 "cd $DIR/job_9001 && head -c 64M /dev/zero >file && exec setsid sleep 600 <file >/dev/null 2>&1 & echo \$! >>/tmp/pids"
	n1 'cat /tmp/pids >>/run/pm-test.pids'
	run -0 end 9001
	run -0 begin_fsdax 9002 user2 --size=1G
	wait_for 60 is_clean
	run -0 n1 "ls $DIR"
	refute_output --partial 9001
}

@test "files moved to other projects: no more than the size, and no other's quota used up" {
	run -0 begin_fsdax 9001 user1 --size=256M
	run -0 begin_fsdax 9002 user2 --size=256M
	# user1 charges 9002's project, as its number is known: 0x40000000 and the job's.
	run -0 as user1 "cd $DIR/job_9001 && head -c 200M /dev/zero >file && chattr -p $((0x40000000 + 9002)) file && lsattr -p file"
	assert_output --partial $((0x40000000 + 9002))
	run -1 as user1 "head -c 200M /dev/zero >$DIR/job_9001/more"
	assert_output --partial 'quota exceeded'
	run -0 as user2 "head -c 200M /dev/zero >$DIR/job_9002/file"
	run -1 as user2 "head -c 100M /dev/zero >$DIR/job_9002/more"
	run -0 end 9001
	run -0 end 9002
}

@test "inodes are bound as bytes are" {
	run -0 begin_fsdax 9001 user1 --size=256M
	run -0 begin_fsdax 9002 user2
	run -0 as user1 "python3 /run/fill.py $DIR/job_9001"
	assert_output --regexp '^40[0-9][0-9] files$'
	run -0 as user2 "for i in \$(seq 5000); do : >$DIR/job_9002/\$i; done; ls $DIR/job_9002 | wc -l"
	assert_output 5000
}

@test "trash can be read by no user, counts for no later job, and gives way to one that needs its space" {
	run -0 begin_fsdax 9001 user1 --size=1G
	run -0 as user1 "head -c 900M /dev/zero >$DIR/job_9001/file"
	hold_sweep
	run -0 end 9001
	run -2 as user1 "ls $DIR/trash_0"
	assert_output --partial 'Permission denied'
	# The same user, the same job again: all of the new size can be written.
	run -0 begin_fsdax 9001 user1 --size=512M
	run -0 as user1 "head -c 500M /dev/zero >$DIR/job_9001/file"
	run -1 as user1 "head -c 500M /dev/zero >$DIR/job_9001/more"
	# Beside another job the next one is asked to come again.
	run -3 begin_fsdax 9002 user2 --size=2900M
	assert_output --partial 'has less until the files of earlier jobs are removed'
	run -0 end 9001
	# Alone on the node it gets a new file system, though somebody still removes the old one's.
	run -0 begin_fsdax 9003 user2 --size=3G
	run -0 n1 "ls $DIR"
	refute_output --partial trash
}

# Only root may make as many: a user's quota ends before.
@test "a million files: neither the end of their job nor the next job waits until they are removed" {
	local started
	run -0 n1 "sed -i '/^FileSystem=/d' /etc/slurm/pmem.conf; echo FileSystem=xfs >>/etc/slurm/pmem.conf; pmctl provision empty"
	run -0 begin_fsdax 9001 user1
	run -0 n1 "python3 -c 'import os
for d in range(100):
	os.mkdir(\"$DIR/job_9001/%d\" % d); os.chdir(\"$DIR/job_9001/%d\" % d)
	for f in range(10000): os.mknod(str(f))'; df --output=iused $DIR | tail -1"
	[ "$output" -gt 1000000 ]
	started=${EPOCHREALTIME/./}
	run -0 end 9001
	echo "# job end: $(((${EPOCHREALTIME/./} - started) / 1000)) ms" >&3
	run -0 n1 "ls -d $DIR/trash_0"
	started=${EPOCHREALTIME/./}
	run -0 begin_fsdax 9002 user2 --size=1G
	echo "# the next job's begin: $(((${EPOCHREALTIME/./} - started) / 1000)) ms" >&3
	run -0 n1 "ls -d $DIR/trash_0"
	run -0 as user2 "head -c 500M /dev/zero >$DIR/job_9002/file"
	run -0 end 9002
	wait_for 600 is_clean
	n1 "sed -i '/^FileSystem=/d' /etc/slurm/pmem.conf; pmctl provision empty"
}

@test "a mode change does not wait for trash" {
	run -0 begin_fsdax 9001 user1
	run -0 as user1 "mkdir -p $DIR/job_9001/a; echo x >$DIR/job_9001/a/b"
	hold_sweep
	run -0 end 9001
	run -0 n1 'pmctl provision empty; ndctl list -N'
	refute_output --partial namespace
}

@test "trash of a killed pmctl, or of a boot before, is found by the next job" {
	run -0 begin_fsdax 9001 user1
	run -0 as user1 "mkdir -p $DIR/job_9001/a/b"
	n1 "mv $DIR/job_9001 $DIR/trash_5; mkdir -p /mnt/slurm-pmem/socket1/job_77/x; rm /var/lib/slurm-pmem/jobs/9001.json"
	run -0 begin_fsdax 9002 user2
	wait_for 60 is_clean
	run -0 n1 "ls $DIR /mnt/slurm-pmem/socket1"
	refute_output --partial job_77
}
