#!/usr/bin/env bats
# The site's configuration: read when a mode is asked for, and only then.

setup() {
	load helper
	clean_nodes
	conf=$(bench_dir)/etc/pmem.conf
	plugstack=$(bench_dir)/etc/plugstack.conf.d/pmem.conf
	cp "$conf" "$BATS_TEST_TMPDIR/conf"
	cp "$plugstack" "$BATS_TEST_TMPDIR/plugstack"
}

teardown() {
	cp "$BATS_TEST_TMPDIR/conf" "$conf"
	cp "$BATS_TEST_TMPDIR/plugstack" "$plugstack"
}

line_count() {
	grep -c '' "$conf"
}

# with_words WORD...: instead of config=FILE behind the plugin's path.
with_words() {
	sed -i "s|^\(required [^ ]*\).*|\1 $*|" "$plugstack"
}

@test "an unknown key stops the plugin with file and line" {
	echo 'Mode=memory' >>"$conf"
	run_srun 1 --pm-mode=memory true
	assert_output --regexp "pm: $conf:$(line_count): .*Mode"
	assert_nothing_queued
}

@test "a bad value stops the plugin with file and line" {
	echo 'ToolTimeout=soon' >>"$conf"
	run_client sbatch 1 --pm-mode=memory --wrap=true
	assert_output --regexp "pm: $conf:$(line_count): .*soon"
	assert_nothing_queued
}

@test "a job without a mode does not care for a broken configuration" {
	echo 'Mode=memory' >>"$conf"
	run_srun true
	run_sbatch <<-END
		#!/bin/sh
		echo finished
	END
	assert_output finished
}

@test "a mode that the site does not offer is refused" {
	echo 'Modes=appdirect' >>"$conf"
	run_srun 1 --pm-mode=memory true
	assert_output --partial "pm: --pm-mode: mode 'memory' is not offered here, take one of appdirect"
	PM_MODE=memory run_srun 1 true
	assert_output --partial "pm: PM_MODE: mode 'memory' is not offered here, take one of appdirect"
	assert_nothing_queued
}

@test "a configuration file that plugstack.conf names must be there" {
	with_words config=/nonexistent/pmem.conf
	run_srun 1 --pm-mode=memory true
	assert_output --partial "'/nonexistent/pmem.conf'"
	run_srun true
}

@test "words in plugstack.conf win over the file" {
	with_words "config=$conf" Modes=appdirect
	run_srun 1 --pm-mode=memory true
	assert_output --partial "mode 'memory' is not offered here"
}

@test "an unknown word in plugstack.conf is refused when a mode is asked for" {
	with_words "config=$conf" Mode=memory
	run_srun 1 --pm-mode=memory true
	assert_output --partial 'pm: plugstack.conf: '
	with_words "config=$conf" verbose
	run_srun 1 --pm-mode=memory true
	assert_output --partial "pm: plugstack.conf: 'verbose' is not Key=Value"
	run_srun true
}
