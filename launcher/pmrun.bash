# bash completion of pmrun(1); what it knows is checked against 'pmrun --help'.

_pmrun_values() {
	case $1 in
	--pm-dram) echo auto ;;
	--pm-bind) echo socket none ;;
	--pm-policy) echo dram-first pm-only interleave weighted none ;;
	--pm-distribution) echo block cyclic ;;
	--pm-smt) echo no threads helpers ;;
	--pm-runtime) echo none ;;
	esac
}

# Does the option take an argument, which may be the next word?
_pmrun_has_argument() {
	case $1 in
	--plan | --json | --pm-verbose | --version | --help | -h) return 1 ;;
	-*) return 0 ;;
	*) return 1 ;;
	esac
}

# Where the program stands: the first word that is no option and no option's argument. '=' is a word of its own.
_pmrun_program() {
	local i before
	for ((i = 1; i < COMP_CWORD; i++)); do
		before=${COMP_WORDS[i - 1]}
		[[ ${COMP_WORDS[i]} != -?* && ${COMP_WORDS[i]} != = && $before != = ]] || continue
		! { [ "$i" -gt 1 ] && _pmrun_has_argument "$before"; } || continue
		echo "$i"
		return
	done
}

_pmrun_complete_argument() {
	case $1 in
	--pm-profile) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
	--svg | --topology | --config | --pm-advice) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$(_pmrun_values "$1")" -- "$2") ;;
	esac
}

_pmrun() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program
	local options='--pm-dram= --pm-bind= --pm-policy= --pm-distribution= --pm-threads= --pm-smt= --pm-runtime=
		--pm-profile= --pm-advice= --pm-verbose --ranks= --plan --json --svg= --topology= --config= --version --help -n -h'
	program=$(_pmrun_program)
	if [ -n "$program" ]; then
		! declare -F _command_offset >/dev/null || _command_offset "$program"
	elif [ "$word" = = ]; then
		_pmrun_complete_argument "$before" ''
	elif [ "$before" = = ]; then
		_pmrun_complete_argument "${COMP_WORDS[COMP_CWORD - 2]}" "$word"
	elif [ "$COMP_CWORD" -gt 1 ] && _pmrun_has_argument "$before"; then
		_pmrun_complete_argument "$before" "$word"
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	fi
}

complete -o default -F _pmrun pmrun
