# What a job's prolog and epilog do, by hand on node n1.

n1() { pmtwin exec n1 -- bash -c "$1"; }

# begin ID USER OPTION…: for a job of that user.
begin() {
	local id=$1 user=$2
	shift 2
	n1 "pmctl job begin --job=$id --uid=\$(id -u $user) --gid=\$(id -g $user) $*"
}

end() { n1 "pmctl job end --job=$1"; }

# as USER SCRIPT: on the node, as that user.
as() { n1 "runuser -u $1 -- bash -c '$2'"; }
