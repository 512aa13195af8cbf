# What tests on the emulated cluster share. `load helpers` and use pmtwin, on_head, node_state, wait_for.
bats_load_library bats-support
bats_load_library bats-assert
bats_require_minimum_version 1.5.0

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

pmtwin() { "$ROOT/twin/pmtwin" "$@"; }

# As user1 on the head node.
on_head() { pmtwin run -- "$@"; }

# State of a node in Slurm, as `idle` or `down*`.
node_state() { pmtwin exec head -- sinfo -hN -n "$1" -o %T; }
node_reason() { pmtwin exec head -- sinfo -hN -n "$1" -o %E; }
node_features() { pmtwin exec head -- sinfo -hN -n "$1" -o %b; }

boot_id() { pmtwin exec --wait 60 "$1" -- cat /proc/sys/kernel/random/boot_id; }

# wait_for SECONDS COMMAND...: until the command succeeds. Looks seldom: what asks Slurm needs half of a processor's second.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || {
			echo "not within the time: $*" >&2
			return 1
		}
		sleep 2
	done
}

node_is() { [[ $(node_state "$1" 2>/dev/null) == "$2" ]]; }

# events_of NODE: its events so far, for counting.
events_of() { pmtwin events | awk -v node="$1" '$2 == node { print $3 }'; }

# Leaves a node without faults, up and in service; for teardown.
restore_node() {
	pmtwin inject "$1" none
	pmtwin exec "$1" -- true 2>/dev/null || pmtwin power-cycle --wait 120 "$1"
	# A node that does not answer yet is idle*, which Slurm 22.05 refuses to resume; it is idle when slurmd has registered.
	[[ $(node_state "$1") == idle?(\*) ]] ||
		pmtwin exec head -- scontrol update "nodename=$1" state=resume reason=
	wait_for 300 node_is "$1" idle
}
