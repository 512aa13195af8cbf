# bash completion of pmrun(1)

# made by 'make tables' from plan/options.def
_pmrun_options='
	--pm-dram= --pm-bind= --pm-policy= --pm-distribution= --pm-threads= --pm-smt= --pm-runtime=
	--pm-profile= --pm-advice= --pm-site-profile= --pm-verbose --ranks= --plan --json --svg=
	--topology= --machine= --node= --partition= --config= --version --help -n -h
'

_pmrun_argument() {
	case $1 in
	--pm-dram) compgen -W 'auto' -- "$2" ;;
	--pm-bind) compgen -W 'socket none' -- "$2" ;;
	--pm-policy) compgen -W 'dram-first pm-only interleave weighted none' -- "$2" ;;
	--pm-distribution) compgen -W 'block cyclic' -- "$2" ;;
	--pm-smt) compgen -W 'no threads helpers' -- "$2" ;;
	--pm-runtime) compgen -W 'none' -- "$2" ;;
	--pm-advice) compgen -f -- "$2" ;;
	--pm-site-profile) compgen -f -- "$2" ;;
	--svg) compgen -f -- "$2" ;;
	--topology) compgen -f -- "$2" ;;
	--config) compgen -f -- "$2" ;;
	esac
}

_pmrun_stands_alone() {
	case $1 in
	--pm-verbose | --plan | --json | --version | --help | -h) ;;
	*) return 1 ;;
	esac
}
# end

# Does the option take an argument, which may be the next word?
_pmrun_has_argument() {
	[[ $1 == -* ]] && ! _pmrun_stands_alone "$1"
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
	mapfile -t COMPREPLY < <(_pmrun_argument "$1" "$2")
}

_pmrun() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program
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
		mapfile -t COMPREPLY < <(compgen -W "$_pmrun_options" -- "$word")
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	fi
}

complete -o default -F _pmrun pmrun
