#!/usr/bin/env bats
# The packages as files, without installing them.
bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
}

# Of a package's files those in places that both kinds of packages have alike.
alike() {
	sed -nE 's,^\.?/(usr/)?((bin|include|libexec|lib/slurm-pmem|share/slurm-pmem|share/man|lib/systemd/system)/.*[^/])$,\2,p' | sed 's/\.gz$//' | sort
}

@test "lintian finds nothing that is not said to be meant" {
	run -0 lintian --allow-root --fail-on error,warning "$PM_PACKAGES/bookworm"/*.deb
	refute_output --regexp '^[EWN]: .*(unused-override|mismatched-override)'
}

@test "Makefile, changelog and spec are of one version" {
	run -0 sed -n 's/^VERSION := //p' Makefile
	version=$output
	run -0 sed -n '1s/^slurm-pmem (\(.*\)-.*) .*/\1/p' debian/changelog
	assert_output "$version"
	run -0 sed -n 's/^Version: //p' rpm/slurm-pmem.spec
	assert_output "$version"
	run -0 rpmspec -q --srpm --queryformat '[%{SOURCE}\n]' rpm/slurm-pmem.spec
	read -r _ jemalloc <packaging/jemalloc.sha256
	assert_line "$jemalloc"
}

@test "jemalloc's source is fetched once, and again when it is not whole" {
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR
	run -0 --separate-stderr packaging/jemalloc
	source=$output
	assert_equal "$source" "$BATS_TEST_TMPDIR/slurm-pmem/sources/$(sed 's/.* //' packaging/jemalloc.sha256)"
	PM_MIRROR=http://nowhere.invalid run -0 packaging/jemalloc
	assert_output "$source"
	echo more >>"$source"
	PM_MIRROR=http://nowhere.invalid run ! packaging/jemalloc
	assert_output --partial "'http://nowhere.invalid/pool/main/j/jemalloc/${source##*/}' could not be fetched; put"
	run -0 packaging/jemalloc
	assert_output --partial "fetching jemalloc's source"
}

@test "another file in its place is refused" {
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR
	cp -r packaging "$BATS_TEST_TMPDIR"
	sed -i 's/^../00/' "$BATS_TEST_TMPDIR/packaging/jemalloc.sha256"
	run ! "$BATS_TEST_TMPDIR/packaging/jemalloc"
	assert_output --partial 'does not have the sum that is expected, 00'
	run -0 find "$BATS_TEST_TMPDIR/slurm-pmem" -type f
	assert_output ''
}

@test "a build without it says what to do" {
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR run ! make BUILD="$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/jemalloc/source/configure"
	assert_output --partial 'is not there: run packaging/jemalloc, which fetches it'
}

@test "what make install places is in a package, and in one only" {
	make --no-print-directory install BUILD="$(realpath "$PM_PACKAGES/..")" DESTDIR="$BATS_TEST_TMPDIR" unitdir=/lib/systemd/system \
		>/dev/null
	for package in "$PM_PACKAGES/bookworm"/slurm-pmem-{client,common,controller,node,plugin,runtime}_*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -t
	done | sed 's/\.gz$//' | grep -v -e '/$' -e /doc/ -e /lintian/ | sort >"$BATS_TEST_TMPDIR.packed"
	(cd "$BATS_TEST_TMPDIR" && find . -type f -o -type l) | sort | diff -u - "$BATS_TEST_TMPDIR.packed"
}

@test "RPM packages have the same files" {
	for kind in client common controller node plugin runtime; do
		dpkg-deb --fsys-tarfile "$PM_PACKAGES/bookworm/slurm-pmem-${kind}"_*.deb | tar -t | alike >"$BATS_TEST_TMPDIR/deb"
		# Without the folders, which the other list tells by a slash at their end.
		HOME=$BATS_TEST_TMPDIR rpm -qlvp "$PM_PACKAGES/../rpm/slurm-pmem-$kind"-*.rpm | grep -v ^d | sed 's/ -> .*//; s/.* //' |
			alike >"$BATS_TEST_TMPDIR/rpm"
		assert [ -s "$BATS_TEST_TMPDIR/deb" ]
		diff -u "$BATS_TEST_TMPDIR/deb" "$BATS_TEST_TMPDIR/rpm"
	done
}

@test "the sources in the twin's package can be made" {
	dpkg-deb -x "$PM_PACKAGES/bookworm"/slurm-pmem-twin_*.deb "$BATS_TEST_TMPDIR"
	sources=$BATS_TEST_TMPDIR/usr/share/slurm-pmem-twin
	run -0 make -n -C "$sources" BUILD="$BATS_TEST_TMPDIR/build" DESTDIR=/nowhere install "$BATS_TEST_TMPDIR/build/pmtwin-agent"
	run -0 "$BATS_TEST_TMPDIR/usr/share/slurm-pmem-twin/twin/pmtwin" --help
	run -0 find "$sources" -newer "$BATS_TEST_TMPDIR/usr" -name '*.pyc'
	assert_output ''
}

@test "and so can the same packages, which its guests are installed from" {
	dpkg-deb -x "$PM_PACKAGES/bookworm"/slurm-pmem-twin_*.deb "$BATS_TEST_TMPDIR"
	run -0 "$BATS_TEST_TMPDIR/usr/share/slurm-pmem-twin/packaging/deb" "$BATS_TEST_TMPDIR/deb" bookworm
	diff <(cd "$PM_PACKAGES/bookworm" && ls) <(cd "$BATS_TEST_TMPDIR/deb/bookworm" && ls)
}

@test "a tree without git is copied without what was built in it" {
	packaging/tree "$BATS_TEST_TMPDIR/one"
	mkdir "$BATS_TEST_TMPDIR/one/build"
	touch "$BATS_TEST_TMPDIR/one/build/pmctl"
	"$BATS_TEST_TMPDIR/one/packaging/tree" "$BATS_TEST_TMPDIR/two"
	rm -r "$BATS_TEST_TMPDIR/one/build"
	diff -r "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
}
