#!/bin/bash
# Print which tables of db/schema.sql and of the migrations refer to which, as Mermaid text, section by section; doc/schema.md
# contains this output. With a file: exit 1 with a message unless that file contains it.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT
cat db/schema.sql >"$tables"
printf '%s\n' '-- ---- added by migrations --' >>"$tables"
cat db/migrations/*.sql >>"$tables"

references() { # table: lines "TABLE one-or-none REFERRED column"
	sqlite3 -bail -separator ' ' :memory: ".read $tables" "
		SELECT '$1', iif(c.\"notnull\" OR c.pk, '||', 'o|'), f.\"table\", group_concat(f.\"from\", ', ')
		FROM pragma_foreign_key_list('$1') f JOIN pragma_table_info('$1') c ON c.name = f.\"from\"
		GROUP BY f.\"table\", 2 ORDER BY min(c.cid)"
}
drawing() {
	local open="" line
	while IFS= read -r line; do
		case "$line" in
		'-- ---- '*)
			[ -z "$open" ] || printf '```\n\n'
			line=${line#-- ---- }
			line=${line%% --*}
			printf '### %s\n\n```mermaid\nerDiagram\n' "${line^}"
			open=1
			;;
		'CREATE TABLE '*)
			line=${line#CREATE TABLE }
			printf '    %s\n' "${line%% *}"
			references "${line%% *}" | while read -r table end other columns; do
				printf '    %s }o--%s %s : "%s"\n' "$table" "$end" "$other" "$columns"
			done
			;;
		esac
	done <"$tables"
	printf '```\n'
}
if [ $# = 0 ]; then
	drawing
elif ! [[ $(cat "$1") == *"$(drawing)"* ]]; then
	echo "$1 does not hold what tests/draw-schema.sh prints: put it there"
	exit 1
fi
