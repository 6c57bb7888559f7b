# completes.sh - completions that zsh makes, for shell tests. Source it after tap.sh.
#
#   zsh_completes FOLDER   standard input has a case a line: what it is, the arguments typed before Tab, what they become, each
#                          after a `|`; every case is a test. FOLDER has _flopwatch. One shell for all: it forks dozens of times
#                          while it loads its completions.
zsh_completes() {
	local cases made each what typed wanted n
	mapfile -t cases
	mapfile -t made < <(for each in "${cases[@]}"; do IFS='|' read -r what typed wanted <<<"$each" && printf 'flopwatch %s\n' "$typed"; done |
		timeout 120 zsh -f "$root/tests/support/completes.zsh" "$1")
	for n in "${!cases[@]}"; do
		IFS='|' read -r what typed wanted <<<"${cases[n]}"
		is "zsh: $what" "${made[n]-}" "$wanted"
	done
}
