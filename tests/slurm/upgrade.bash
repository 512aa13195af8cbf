# Sourced by the tests of upgrades with a full queue: jobs that wait, run and are configuring, and what became of them.
# shellcheck shell=bash disable=SC2034,SC2154 # output is set by run; job and submitted are the tests'

# submit COUNT OPTION... SCRIPT: an array of jobs, whose number is then in $job; each adds to out.JOB_TASK.
submit() {
	local count=$1
	shift
	run_client sbatch --parsable --array="1-$count" --output="$(bench_dir)/home/out.%A_%a" --open-mode=append "${@:1:$#-1}" \
		--wrap="${*: -1}"
	job=$output
	submitted=$((submitted + count))
}

# A job's script: once FILE is there, what mode its node is in, for the job and for a step of it.
script_until() { echo "until [ -e $(bench_dir)/home/$1 ]; do sleep 1; done; pmctl mode; srun pmctl mode"; }

count_is() { [ "$(bench squeue -hr -t "$1" | wc -l)" -eq "$2" ]; }
completed() { admin scontrol -o show job | grep -c ' JobState=COMPLETED ' || true; }
completed_are() { [ "$(completed)" -ge "$1" ]; }
configuring_are() { [ "$(bench squeue -hr -t configuring -j "$1" | wc -l)" -eq "$2" ]; }
running_are() { [ "$(bench squeue -hr -t running -j "$1" | wc -l)" -eq "$2" ]; }
has_ended() { [ -z "$(bench squeue -hr -j "$1")" ]; }

# ran_in JOB MODE COUNT: so many jobs of the array, and the step of each, in this mode. srun says when its step had to wait
# for slurmctld.
ran_in() {
	local remarks='^srun: (Job [0-9]+ step creation temporarily disabled, retrying|Step created for (job|StepId))'
	assert_equal "$(cat "$(bench_dir)/home/out.$1"_* | grep -Ev "$remarks" | sort | uniq -c | tr -s ' ')" " $((2 * $3)) $2"
}

no_node_has_left() {
	run admin sinfo -hN -o '%T %E'
	refute_output --regexp 'drain|down|fail|inval|not_resp'
}

# The nodes of the second class stay off when they reboot, until boots_end.
boots_last() { touch "$(bench_dir)"/n{11..15}/off; }
boots_end() { rm -f "$(bench_dir)"/n{11..15}/off; }

aside() { find "$(bench_dir)" -name '*.unreadable*' | sort; }
