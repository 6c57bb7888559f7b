#!/bin/bash
# tests/campaign/code_changed.py, by which the campaign's rows count: on a small repository, a commit for each change.
. "$(dirname "$0")/../support/tap.sh"
tree=$tmp/tree
git init -q -b main "$tree"
mkdir "$tree/part"
printf '/* What it does. */\nint answer(void)\n{\n\tconst char *url = "http://a//b"; // why\n\treturn url[0] == %s ? 42 : 0;\n}\n' "'\"'" >"$tree/part/a.c"
printf -- "-- What it has.\nCREATE TABLE t (a TEXT DEFAULT '-- no comment'); -- why\n" >"$tree/part/b.sql"
printf '# no comment that is known\n' >"$tree/part/c.py"
save() { git -C "$tree" add -A && git -C "$tree" commit -q -m "$1" && git -C "$tree" rev-parse HEAD; }
changed() { (cd "$tree" && "$root/tests/campaign/code_changed.py" "$@"); }
first=$(save first)
ok "nothing changed" changed "$first" part
sed -i 's/What it does/Its contract:\n * one line more/; s|// why|// another reason: "|; s/42/  42/' "$tree/part/a.c"
sed -i 's/What it has/Another/; s/-- why/-- because/' "$tree/part/b.sql"
commented=$(save comments)
ok "comments and space changed" changed "$first" part
for edit in 'part/a.c|s/42/43/' 'part/a.c|s|//a//b|//a//c|' 'part/a.c|s|http://|http:  //|' "part/b.sql|s/no comment/none/" 'part/c.py|s/known/new/'; do
	sed -i "${edit#*|}" "$tree/${edit%%|*}"
	save "${edit#*|}" >/dev/null
	fails "changed by $edit" 1 changed "$commented" part
	ok "elsewhere not" changed "$commented" other
	git -C "$tree" reset -q --hard "$commented"
done
echo 'int more;' >"$tree/part/d.c"
save "a file" >/dev/null
fails "a new file" 1 changed "$commented" part
fails "an unknown commit" 1 changed - part
