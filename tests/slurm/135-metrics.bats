#!/usr/bin/env bats
# pmctl metrics on a real Slurm: a real node_exporter reads what it writes, a real Prometheus has it and evaluates the alerts.
# shellcheck disable=SC2016 # the dollars are Prometheus'

setup() {
	load helper
	clean_nodes
	bench service start
	host=$BATS_TEST_TMPDIR
	mkdir -p "$host/n1" "$host/n2" "$host/ctl"
}

teardown() {
	cancel_jobs -f
	bench inject n1 none
	state_is n1 idle || bench power-cycle n1
	resume n1 n2
}

# node_writes NODE: as its timer does.
node_writes() {
	bench node "$1" pmctl metrics --output="$host/$1/slurm-pmem.prom"
}

controller_writes() {
	bench exec "$(pmctl_program)" --config "$(bench_dir)/etc/pmem.conf" metrics --cluster --output="$host/ctl/slurm-pmem-cluster.prom"
}

pmctl_program() {
	echo "${PM_BUILD:-$TOP/build}/pmctl"
}

# prometheus QUERY...: what it answers, with the files as they are.
prometheus() {
	"$TOP/tests/slurm/scrape.py" --rules "$TOP/etc/prometheus/slurm-pmem.rules.yml" "n1=$host/n1" "n2=$host/n2" "ctl=$host/ctl" -- "$@" 3>&-
}

# has_written METRIC VALUE: of the controller's file, written anew.
has_written() {
	controller_writes && grep -Fqx "slurm_pmem_cluster_$1 $2" "$host/ctl/slurm-pmem-cluster.prom"
}

n1_reboots() {
	controller_writes && grep -q '^slurm_pmem_cluster_node_reboot_start_timestamp_seconds{node="n1",mode="appdirect"} 1' "$host/ctl/slurm-pmem-cluster.prom"
}

n1_is_rebooting() {
	controller_writes && grep -Eqx 'slurm_pmem_cluster_nodes\{mode="[a-z]+",state="rebooting"\} 1' "$host/ctl/slurm-pmem-cluster.prom"
}

# used_names FILE...: the metrics in them.
used_names() {
	grep -oh 'slurm_pmem_[a-z_]*' "$@" | sort -u
}

@test "Prometheus has what nodes and the controller write, with every metric of the alerts and of the dashboard" {
	local badblocks
	put_in memory n2
	put_in appdirect n2
	put_in memory n1
	let_epilogs_end
	# In memory mode a node has no region; n2 has one with bad blocks.
	badblocks=$(ls -d "$(bench_dir)"/n2/machine/root/sys/bus/nd/devices/region0)/badblocks
	echo '2048 8' >"$badblocks"
	node_writes n1
	node_writes n2
	rm "$badblocks"
	admin scontrol update nodename=n2 state=drain reason='the fan is loud'
	run_client sbatch --parsable -w n2 --pm-mode=appdirect --output=/dev/null --wrap=true
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	wait_for 30 n1_reboots
	wait_for 30 has_written 'jobs_waiting{mode="appdirect"}' 1
	wait_for 30 has_written 'nodes{mode="appdirect",state="out"}' 1
	wait_for 30 n1_is_rebooting
	bench power-cycle n1
	run -0 prometheus 'slurm_pmem_node_mode == 1' 'sum by (outcome) (slurm_pmem_changes_total{instance="n1"}) > 0' \
		'slurm_pmem_cluster_nodes > 0' 'slurm_pmem_cluster_nodes_out > 0' 'slurm_pmem_cluster_jobs_waiting > 0' \
		'ALERTS{alertstate="firing"}' 'count by (class, part, firmware) (slurm_pmem_module_info)' \
		'label_replace(count by (__name__) ({__name__=~"slurm_pmem_.+"}), "name", "$1", "__name__", "(.*)")'
	assert_line '{__name__="slurm_pmem_node_mode",instance="n1",mode="memory"} 1'
	assert_line '{__name__="slurm_pmem_node_mode",instance="n2",mode="appdirect"} 1'
	assert_line --regexp '^\{outcome="done"\} [1-9][0-9]*$'
	assert_line '{__name__="slurm_pmem_cluster_nodes",instance="ctl",mode="appdirect",state="out"} 1'
	assert_line --regexp '^\{__name__="slurm_pmem_cluster_nodes",instance="ctl",mode="[a-z]+",state="rebooting"\} 1$'
	assert_line '{__name__="slurm_pmem_cluster_nodes_out",cause="other",instance="ctl"} 1'
	assert_line '{__name__="slurm_pmem_cluster_jobs_waiting",instance="ctl",mode="appdirect"} 1'
	assert_line '{__name__="ALERTS",alertname="SlurmPmemBadBlocks",alertstate="firing",instance="n2",region="region0",severity="critical"} 1'
	assert_equal "$(grep -c alertstate <<<"$output")" 1
	assert_line '{class="none",firmware="02.02.00.1352",part="NMB1XXD128GPS"} 8'
	grep -o ' *name="slurm_pmem_[a-z_]*' <<<"$output" | sed 's/.*"//' | sort -u >"$host/scraped"
	run comm -13 "$host/scraped" <(used_names "$TOP/etc/prometheus/slurm-pmem.rules.yml" "$TOP/etc/grafana/slurm-pmem.json")
	assert_output ''
	# And what the table promises is what is printed.
	run comm -13 "$host/scraped" <(used_names "$TOP/agent/metrics.def" | grep -vx slurm_pmem_)
	assert_output ''
}

@test "the controller's file says that the service does not answer, and no other host's does" {
	controller_writes
	run -0 promtool check metrics <"$host/ctl/slurm-pmem-cluster.prom"
	assert_output ''
	bench service kill
	run -1 controller_writes
	assert_output --partial 'pmctl: metrics: '
	run -0 prometheus slurm_pmem_controller_up 'ALERTS' 'count({__name__=~"slurm_pmem_cluster_.*"})'
	assert_line '{__name__="slurm_pmem_controller_up",instance="ctl"} 0'
	assert_line '{__name__="ALERTS",alertname="SlurmPmemControllerDown",alertstate="pending",instance="ctl",severity="critical"} 1'
	assert_equal "${#lines[@]}" 5
}
