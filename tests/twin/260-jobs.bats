#!/usr/bin/env bats
# What pmctl gives a job and takes back, on one node without Slurm: real ndctl, daxctl, kernel and file systems.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup_file() {
	load helpers
	load jobs
	load node_jobs
	use_mode n1 appdirect
	n1 'pmctl recover'
}

setup() {
	load helpers
	load jobs
	load node_jobs
}

has_ended() { [ -z "$(on_head squeue -h -j "$1" 2>/dev/null)" ]; }

teardown() {
	n1 'for job in 9001 9002 9003; do pmctl job end --job=$job; done; rm -f /etc/slurm/pmem-test.conf' >&2
}

teardown_file() {
	n1 'pmctl provision empty'
}

# use_key LINE: a configuration with this line more, for the option $CONFIG.
use_key() {
	n1 "cp /etc/slurm/pmem.conf /etc/slurm/pmem-test.conf && printf '\n%s\n' '$1' >>/etc/slurm/pmem-test.conf"
	CONFIG=--config=/etc/slurm/pmem-test.conf
}

# A job's directory with a quota, on the file system of $1.
check_directory() {
	local dir=/mnt/slurm-pmem/socket0/job_9001
	use_key "FileSystem=$1"
	run -0 n1 'pmctl provision empty'
	run -0 begin 9001 user1 --expect=appdirect --size=64M "$CONFIG"
	run -0 n1 'cat /run/slurm-pmem/jobs/9001'
	assert_line PM_MODE=appdirect
	assert_line PM_DIR0=$dir
	assert_line PM_DIR1=/mnt/slurm-pmem/socket1/job_9001
	assert_line PM_DIR1_SOCKET=1
	run -0 n1 "stat -c '%U %a' $dir; stat -f -c %T $dir; grep -c 'socket[01] .*dax=always' /proc/self/mountinfo"
	assert_line --index 0 'user1 700'
	assert_line --index 2 2
	run -0 as user1 "xfs_io -f -c \"truncate 4k\" -c \"mmap -S 0 4k\" -c \"mwrite -S 0x41 0 4k\" -c msync $dir/sync"
	run -0 as user1 "dd if=/dev/zero of=$dir/fits bs=1M count=50"
	run -1 as user1 "dd if=/dev/zero of=$dir/more bs=1M count=20"
	assert_output --regexp 'No space left|quota exceeded'
	run -2 as user2 "ls $dir"
	run -0 as user1 "rm $dir/more; mkdir -p $dir/a/b/c && ln -s /etc/passwd $dir/a/link && mkfifo $dir/a/b/fifo && chmod 0 $dir/a"
	run -0 end 9001
	run -0 n1 "ls /mnt/slurm-pmem/socket0 /run/slurm-pmem/jobs /var/lib/slurm-pmem/jobs; test -s /etc/passwd"
	refute_output --partial 9001
	run -0 end 9001
}

@test "ext4: a private directory with a quota on each socket, MAP_SYNC, gone at the end" {
	check_directory ext4
}

@test "xfs: the same" {
	check_directory xfs
}

@test "two jobs share the file systems, the end of one leaves the other's files" {
	run -0 begin 9001 user1 --expect=appdirect --size=1G
	run -0 begin 9002 user2 --expect=appdirect
	run -0 as user1 'echo one >/mnt/slurm-pmem/socket0/job_9001/file'
	run -0 as user2 'echo two >/mnt/slurm-pmem/socket0/job_9002/file'
	run -0 begin 9002 user2 --expect=appdirect
	run -0 end 9001
	run -0 as user2 'cat /mnt/slurm-pmem/socket0/job_9002/file'
	assert_output two
	run -2 n1 'ls -d /mnt/slurm-pmem/socket0/job_9001'
}

@test "what there is not is refused with a sentence, and a conflict names the job" {
	run -4 begin 9003 user1 --expect=appdirect --size=100G
	assert_output --partial 'socket 0 has'
	run -0 n1 'cat /run/slurm-pmem/jobs/9003'
	assert_line --regexp '^PM_REFUSED=the job asks for 100.0 GiB'
	run -0 begin 9001 user1 --expect=appdirect --size=3G
	run -4 begin 9002 user1 --expect=appdirect --size=3G
	assert_output --partial 'promised to other jobs'
	run -3 begin 9002 user1 --expect=flat
	assert_output --partial 'in use by job 9001 '
	run -1 begin 9002 user1 --expect=memory
	assert_output --partial 'job expects memory, node is in appdirect'
	run -0 end 9003
	run -2 n1 'ls /run/slurm-pmem/jobs/9003'
}

@test "what a killed begin and a job of another boot have left is cleaned up" {
	for delay in 0.3 1.5 3; do
		n1 "pmctl job begin --job=9001 --uid=0 --gid=0 --expect=appdirect & sleep $delay; kill -9 \$!; wait" || true
		run -0 end 9001
		run -0 n1 'ls /mnt/slurm-pmem/socket* /run/slurm-pmem/jobs /var/lib/slurm-pmem/jobs'
		refute_output --partial 9001
	done
	run -0 begin 9001 user1 --expect=appdirect
	run -0 as user1 'echo left >/mnt/slurm-pmem/socket0/job_9001/file'
	n1 'sed -i "s/\"boot_id\": \"./\"boot_id\": \"x/" /var/lib/slurm-pmem/jobs/9001.json
		mkdir -p /mnt/slurm-pmem/socket1/job_9002/deep; echo left >/mnt/slurm-pmem/socket1/job_9002/deep/file'
	run -0 begin 9003 user2 --expect=appdirect
	run -0 n1 'ls /mnt/slurm-pmem/socket* /var/lib/slurm-pmem/jobs'
	refute_output --partial 900[12]
	assert_output --partial job_9003
	run -0 n1 'pmctl recover >/dev/null; find /var/lib/slurm-pmem /run/slurm-pmem -name "*.??????"'
	assert_output ''
}

# find_in DEVICE TEXT: how many times a device that can only be mapped holds it, or "zeros".
FIND='import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
size = int(open("/sys/bus/dax/devices/%s/size" % os.path.basename(sys.argv[1])).read())
memory = mmap.mmap(fd, size, prot=mmap.PROT_READ)
print("found" if memory.find(sys.argv[2].encode()) >= 0 else "nothing")'
FILL='import mmap, os, sys
memory = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 32 << 20)
memory[:] = (sys.argv[2] * (2 << 20)).encode()'

@test "no byte of a job's files or devices is there for the next, and devices are the user's alone" {
	n1 "cat >/run/find.py <<<'$FIND'; cat >/run/fill.py <<<'$FILL'; chmod 644 /run/*.py"
	run -0 begin 9001 user1 --expect=appdirect
	run -0 as user1 'yes secret-of-a-file | head -c 64M >/mnt/slurm-pmem/socket0/job_9001/file; sync'
	run -0 end 9001
	run -0 begin 9002 user2 --expect=appdirect --namespace=devdax
	run -0 n1 'cat /run/slurm-pmem/jobs/9002; stat -c "%U %a" /dev/dax0.0'
	assert_line PM_DAX0=/dev/dax0.0
	assert_line 'user2 600'
	run -1 as user1 'cat /dev/dax0.0'
	assert_output --partial 'Permission denied'
	run -0 as user2 'python3 /run/find.py /dev/dax0.0 secret-of-a-file'
	assert_output nothing
	run -0 as user2 'python3 /run/fill.py /dev/dax0.0 secret-in-device; python3 /run/find.py /dev/dax0.0 secret-in-device'
	assert_output found
	run -0 end 9002
	run -0 n1 'ndctl list -N; ndctl create-namespace -m raw -r region0 >/dev/null; head -c 128M /dev/pmem0 | tr -d "\\0" | grep -c secret- || true
		ndctl destroy-namespace -f namespace0.0 2>/dev/null'
	assert_output 0
}

@test "a job that an operator lets share its node gets no device" {
	run_user 0 sbatch --parsable --hold -w n1 --pm-mode=appdirect --pm-namespace=devdax --output=shared.out --wrap='echo "ran with $PM_DAX0"'
	local job=$output
	run -0 pmtwin exec head -- scontrol update "jobid=$job" oversubscribe=yes
	run_user 0 scontrol release "$job"
	wait_for 120 has_ended "$job"
	run -0 on_head cat shared.out
	assert_output --partial "other jobs may be put on the job's nodes, but only one job at a time can have devdax memory; submit the job again with --exclusive"
	refute_output --partial 'ran with'
	run -0 n1 'stat -c %U /dev/dax* 2>/dev/null | grep -v root || true'
	assert_output ''
	# Neither drained nor down: Slurm may still count the job's core for a moment.
	wait_for 120 node_is n1 idle
}

@test "new keys are refused where the modules offer no security, and nothing is lost" {
	use_key Wipe=crypto-erase
	run -0 begin 9001 user1 --expect=appdirect
	run -0 as user1 'echo kept >/mnt/slurm-pmem/socket0/job_9001/file'
	run -0 n1 "sed -i 's/\"boot_id\": \"./\"boot_id\": \"x/' /var/lib/slurm-pmem/jobs/9001.json; mv /var/lib/slurm-pmem/jobs/9001.json /run"
	run -1 n1 "pmctl provision empty $CONFIG"
	assert_output --regexp 'module nmem[0-9] offers no security, set Wipe=zero'
	run -0 n1 'pmctl provision fsdax; cat /mnt/slurm-pmem/socket0/job_9001/file'
	assert_output --partial kept
}

DEMOTION=/sys/kernel/mm/numa/demotion_enabled

@test "flat memory is one job's, as NUMA nodes, and goes back" {
	run -0 begin 9001 user1 --expect=flat,appdirect
	run -0 n1 "cat /run/slurm-pmem/jobs/9001; pmctl mode; cat $DEMOTION"
	assert_line PM_NODE0=2
	assert_line PM_NODE1_SOCKET=1
	assert_line flat
	assert_line true
	run -3 begin 9002 user1 --expect=flat
	run -0 end 9001
	run -0 n1 "pmctl mode; ls /sys/bus/dax/devices; cat $DEMOTION"
	assert_output $'appdirect\nfalse'
}

@test "demotion of pages that the site has turned on stays on" {
	n1 "echo 1 >$DEMOTION"
	run -0 begin 9001 user1 --expect=flat,appdirect
	run -0 end 9001
	run -0 n1 "cat $DEMOTION; echo 0 >$DEMOTION"
	assert_output true
}
