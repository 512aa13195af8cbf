# Slurm's configuration on the head node and on n1. `load helpers` first.

# for_both SCRIPT: as root on both.
for_both() {
	pmtwin exec head -- bash -c "$1"
	pmtwin exec n1 -- bash -c "$1"
}

# slurmd last: a node that registers while slurmctld starts may be set down.
restart_slurm() {
	pmtwin exec n1 -- systemctl stop slurmd
	pmtwin exec head -- systemctl restart slurmctld
	wait_for 60 pmtwin exec head -- scontrol ping
	pmtwin exec n1 -- systemctl start slurmd
	wait_for 120 has_modes
	wait_for 120 node_is n1 idle
}

has_modes() { [[ $(node_features n1) == *pm_* ]]; }
