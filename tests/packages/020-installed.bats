#!/usr/bin/env bats
# The packages of $PM_SUITE in a chroot of that release: what they bring, what they refuse, what they leave.
# shellcheck disable=SC2154,SC2016
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	make_root
	files >"$root.before"
	apt install '/packages/*.deb'
	files >"$root.installed"
}

teardown_file() {
	rm -rf --one-file-system "$root"
}

@test "$PM_SUITE: only files of the packages and their units' links come to be" {
	run -0 comm -23 "$root.before" "$root.installed"
	assert_output ''
	comm -13 "$root.before" "$root.installed" | sed 's| .*||; s|^|/|; /deb-systemd-helper/d' | sort >"$root.new"
	run -0 comm -23 "$root.new" <(inside dpkg -L "${OURS[@]}" | sed 's|^/lib/|/usr/lib/|' | sort)
	assert_output "$(
		cat <<-END
			/etc/systemd/system/multi-user.target.wants/pmctl-verify.service
			/etc/systemd/system/slurmd.service.wants
			/etc/systemd/system/slurmd.service.wants/pmctl-verify.service
		END
	)"
}

@test "$PM_SUITE: nothing is started or restarted" {
	run -0 cat "$root/asked"
	assert_output --partial 'preset pmctl-verify.service'
	refute_output --regexp '(^| )(re|try-re)?start( |$)'
}

@test "$PM_SUITE: nothing of ours is in /etc/slurm" {
	run -0 ls "$root/etc/slurm"
	refute_output --partial pmem
}

@test "$PM_SUITE: the programs run, and what the samples name is there" {
	run -0 inside pmctl --version
	run -0 inside pmrun --version
	run -0 inside sh -c 'cat $(find /usr/share/slurm-pmem/examples -type f) |
		grep -oE "/usr/(lib|libexec|share)/[^ \")]*(slurm-pmem|spank_pmem)[^ \")]*" | sort -u'
	assert_line /usr/libexec/slurm-pmem/pm-helper
	assert_line --regexp 'spank_pmem\.so$'
	for path in "${lines[@]}"; do
		assert [ -f "$root$path" ]
	done
}

@test "$PM_SUITE: Slurm loads the plugin" {
	mkdir -p "$root/etc/slurm/plugstack.conf.d"
	cp "$root/usr/share/slurm-pmem/examples/plugstack.conf.d/pmem.conf" "$root/etc/slurm/plugstack.conf.d"
	cp "$root/etc/slurm/plugstack.conf" "$root.plugstack"
	echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$root/etc/slurm/plugstack.conf"
	run -0 inside srun --help
	assert_output --partial '--pm-mode=MODE'
}

@test "$PM_SUITE: the plugin stays as long as plugstack.conf requires it" {
	run ! apt remove slurm-pmem-plugin
	assert_output --partial "slurm-pmem-plugin: Slurm would refuse all jobs without it"
	run -0 inside srun --help
	assert_output --partial '--pm-mode=MODE'
	rm "$root/etc/slurm/plugstack.conf.d/pmem.conf"
	cp "$root.plugstack" "$root/etc/slurm/plugstack.conf"
}

@test "$PM_SUITE: the controller's files stay as long as slurmctld needs them" {
	cp "$root/usr/share/slurm-pmem/examples/job_submit.lua" "$root/etc/slurm"
	run ! apt remove slurm-pmem-controller
	assert_output --partial "take slurm-pmem out of /etc/slurm/job_submit.lua first"
	rm "$root/etc/slurm/job_submit.lua"
	cp "$root/usr/share/slurm-pmem/examples/slurm-pmem.conf" "$root/etc/slurm"
	run ! apt remove slurm-pmem-controller
	assert_output --partial "take slurm-pmem out of /etc/slurm/slurm-pmem.conf first"
	rm "$root/etc/slurm/slurm-pmem.conf"
}

@test "$PM_SUITE: pmctl stays as long as it has something to wipe" {
	mkdir -p "$root/var/lib/slurm-pmem/jobs"
	touch "$root/var/lib/slurm-pmem/jobs/7.json"
	run ! apt remove slurm-pmem-node
	assert_output --partial "jobs still hold persistent memory of this node"
	run ! apt remove slurm-pmem-client
	assert [ -x "$root/usr/bin/pmctl" ]
	rm "$root/var/lib/slurm-pmem/jobs/7.json"
}

@test "$PM_SUITE: what is protected is known after a purge" {
	touch "$root/var/lib/slurm-pmem/pins"
	run -0 apt purge slurm-pmem-node
	assert_output --partial "/var/lib/slurm-pmem stays"
	assert [ -f "$root/var/lib/slurm-pmem/pins" ]
	rm "$root/var/lib/slurm-pmem/pins"
	apt install '/packages/slurm-pmem-node_*.deb'
}

@test "$PM_SUITE: each package can be brought alone, newer and older" {
	for package in "${OURS[@]}"; do
		dpkg-deb -R "$root/packages/$package"_*.deb "$BATS_TEST_TMPDIR/$package"
		sed -i 's/^Version: .*/&+newer/' "$BATS_TEST_TMPDIR/$package/DEBIAN/control"
		mkdir -p "$root/newer"
		dpkg-deb --root-owner-group -b "$BATS_TEST_TMPDIR/$package" "$root/newer/$package.deb"
		run -0 apt install "/newer/$package.deb"
		refute_output --partial 'REMOVED'
		run -0 apt install --allow-downgrades "/packages/${package}_*.deb"
		refute_output --partial 'REMOVED'
	done
	rm -r "$root/newer"
}

@test "$PM_SUITE: the plugin for another series is refused" {
	other=$(echo "$PM_PACKAGES"/*/slurm-pmem-plugin_*.deb | tr ' ' '\n' | grep -v "/$PM_SUITE/")
	assert [ -n "$other" ]
	mkdir -p "$root/other"
	cp "${other%/*}"/slurm-pmem-{plugin,common}_*.deb "$root/other"
	run ! apt install '/other/*.deb'
	assert_output --partial 'slurm-pmem-plugin : Depends: slurm-wlm-basic-plugins'
	rm -r "$root/other"
}

@test "$PM_SUITE: what the twin's package needs is there" {
	mkdir "$root/twin"
	cp "$PM_PACKAGES/$PM_SUITE"/slurm-pmem-twin_*.deb "$root/twin"
	run -0 apt -s install '/twin/*.deb'
	assert_output --regexp $'\nInst slurm-pmem-twin '
	rm -r "$root/twin"
}

@test "$PM_SUITE: who upgrades Slurm gets the plugin for it in the same run" {
	[ "$PM_SUITE" = bookworm ] || skip "no later release is built for"
	mkdir -p "$root/next/lists/partial"
	cp "$PM_PACKAGES"/trixie/*.deb "$root/next"
	(cd "$root/next" && dpkg-scanpackages . >Packages)
	printf 'deb %s trixie main\ndeb [trusted=yes] file:/next ./\n' "$MIRROR" >"$root/next/sources.list"
	next="-o Dir::Etc::SourceList=/next/sources.list -o Dir::State::Lists=/next/lists"
	apt "$next" update
	run -0 apt "$next" -s install slurmd
	assert_output --regexp $'\nInst slurmd \\[22\\.05[^\n]* \\(24\\.11'
	assert_output --regexp $'\nInst slurm-pmem-plugin [^\n]*slurm22\\.05\\] [^\n]*slurm24\\.11 '
	refute_output --regexp $'\n(Remv|Purg) slurm'
	rm -r "$root/next"
}

@test "$PM_SUITE: enabled, removed and purged, nothing is left" {
	mkdir -p "$root/run/slurm-pmem" "$root/run/slurm-pmem-controller" "$root/var/lib/slurm-pmem/jobs" \
		"$root/mnt/slurm-pmem/region0"
	mkdir -p "$root/etc/systemd/system/timers.target.wants"
	ln -s /lib/systemd/system/pm-reregister.timer "$root/etc/systemd/system/timers.target.wants"
	mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
	ln -s /lib/systemd/system/pm-controller.service "$root/etc/systemd/system/multi-user.target.wants"
	apt remove "${OURS[@]}"
	run -0 cat "$root/asked"
	assert_output --partial 'stop pm-controller.service pm-reregister.timer'
	assert_output --partial 'stop pmctl-verify.service'
	apt purge "${OURS[@]}"
	files | diff -u "$root.before" -
}
