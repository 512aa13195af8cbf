# One cluster for all tests, of the Debian release in TWIN_SUITE, in a directory of its own; PMTWIN_DIR of the caller
# is kept, for trying tests on a twin that is up.
setup_suite() {
	local root
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	PMTWIN=$root/twin/pmtwin
	export PMTWIN
	if [[ -n ${PMTWIN_DIR:-} ]]; then
		PMTWIN_KEEP=yes
	else
		PMTWIN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/pmtwin-test.XXXXXX")
		PMTWIN_KEEP=
	fi
	export PMTWIN_DIR PMTWIN_KEEP
	"$PMTWIN" up --suite "${TWIN_SUITE:-trixie}" --nodes 2 --timeout 600 3>&- 2>&1
	# Up to 24.11 Slurm may misread node_reg_mem_percent, by an errno of an earlier call, until it is told to read again.
	if "$PMTWIN" exec head -- sinfo -hN -o %T 3>&- | grep -q inval; then
		"$PMTWIN" exec head -- sh -c 'scontrol reconfigure; sleep 8; scontrol update nodename=n1,n2 state=resume' 3>&-
	fi
}

teardown_suite() {
	[[ -n $PMTWIN_KEEP ]] && return
	"$PMTWIN" down 3>&- 2>&1
	rm -rf "$PMTWIN_DIR"
}
