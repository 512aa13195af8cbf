# Packages that `make deb` has left in $PM_PACKAGES/SUITE, and a chroot of that release to install them into.
# shellcheck disable=SC2154 # output and status are set by run
bats_load_library bats-support
bats_load_library bats-assert

MIRROR=${PM_MIRROR:-http://deb.debian.org/debian}
SEARCH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
OURS=(slurm-pmem-common slurm-pmem-client slurm-pmem-plugin slurm-pmem-runtime slurm-pmem-node
	slurm-pmem-controller)

# $root: one of the release with Slurm and what else our packages depend on, and with the packages themselves in /packages.
make_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root for chroot"
	export root=$BATS_FILE_TMPDIR/root
	mmdebstrap --quiet --variant=apt --dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' \
		--skip=cleanup/apt --format=directory --include=systemd \
		"$PM_SUITE" "$root" "deb $MIRROR $PM_SUITE main"
	pretend_systemd
	mkdir -p "$root/packages" "$root/etc/slurm"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	local name
	for name in "${OURS[@]}"; do
		cp "$PM_PACKAGES/$PM_SUITE/${name}"_*.deb "$root/packages"
	done
	printf 'ClusterName=try\nSlurmctldHost=localhost\nNodeName=localhost\n' >"$root/etc/slurm/slurm.conf"
	apt install "$(apt -s install slurmd slurmctld '/packages/*.deb' |
		awk '$1 == "Inst" && $2 !~ /^slurm-pmem-/ { printf "%s ", $2 }')"
	: >"$root/asked"
}

# systemd counts as running, what it is asked is written to /asked, and links of units it makes.
pretend_systemd() {
	mkdir -p "$root/run/systemd/system"
	cat >"$root/usr/local/bin/systemctl" <<-'END'
		#!/bin/sh
		echo "$@" >>/asked
		case $* in
		*preset*) exec /usr/bin/systemctl "$@" ;;
		*is-enabled*) echo enabled ;;
		esac
	END
	chmod 755 "$root/usr/local/bin/systemctl"
}

inside() {
	chroot "$root" /usr/bin/env -i PATH=$SEARCH LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# Patterns are of names in the root.
apt() {
	inside sh -c "apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Path=$SEARCH $*"
}

# A line for each file but what dpkg and apt keep for themselves: its name, kind, mode, owner, target and, in /etc,
# its content.
files() {
	(cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \
		-o -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./asked \) -prune -o \
		-printf '%P %y %m %U:%G %l\n' && find etc -type f -exec sha256sum {} +) | sort
}
