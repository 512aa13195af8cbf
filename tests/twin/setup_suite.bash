# One cluster for all tests, of the Debian release in TWIN_SUITE and with what TWIN_SHAPE says of it to `pmtwin up`, in a
# directory of its own; PMTWIN_DIR of the caller is kept, for trying tests on a twin that is up.
setup_suite() {
	local root shape
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
	if [[ -n $PMTWIN_KEEP ]] && "$PMTWIN" status >/dev/null 2>&1; then
		return # as it is: `up` with another shape than its own is refused
	fi
	IFS=' ' read -ra shape <<<"${TWIN_SHAPE:---nodes 2}"
	"$PMTWIN" up --suite "${TWIN_SUITE:-trixie}" "${shape[@]}" --timeout 600 3>&- 2>&1
}

teardown_suite() {
	[[ -n $PMTWIN_KEEP ]] && return
	"$PMTWIN" down 3>&- 2>&1
	rm -rf "$PMTWIN_DIR"
}
