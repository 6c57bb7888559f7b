#!/bin/bash
# flopwatch-git, every verb, on good repositories and on hostile ones.
. "$(dirname "$0")/../support/tap.sh"
git_=$bin/flopwatch-git
export HOME=$tmp GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Author GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=Committer GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
cd "$tmp" || exit 1

j() { jq -r "$1" <<<"$out"; }
quiet() { "$@" >/dev/null 2>&1; }

# ---- usage ----
ok "--help" "$git_" --help
like "it lists the verbs" "$out" 'snapshot --worktree'
ok "--version" "$git_" --version
like "it prints the version" "$out" '^flopwatch-git [0-9.]+$'
fails "no verb" 2 "$git_"
fails "unknown verb" 2 "$git_" push
fails "unknown option" 2 "$git_" tips --repo . --force
fails "an option of another verb" 2 "$git_" tips --repo . --commit x
fails "part of an option" 2 "$git_" tips --rep .
fails "missing option" 2 "$git_" tree --repo .
like "it names it" "$out" 'missing --commit'
fails "missing value" 2 "$git_" tips --repo
fails "count is not a number" 2 "$git_" log --repo . --from x --count 1x
refuses() { # a line of the error, the arguments that it answers
	local line="flopwatch-git: $1; see --help"
	shift
	fails "refused: $*" 2 "$git_" "$@"
	is "with one line" "$out" "$line"
}
refuses "no verb given"
refuses "unknown verb --repo" --repo . tips
refuses "unknown option --force" tips --repo . --force
refuses "unknown option --commit" tips --repo . --commit
refuses "unknown option --rep" tips --rep
refuses "unknown option --first" log --repo . --from x --first
refuses "unknown option -r" tips -r .
refuses "unknown option ." tips .
refuses "unknown option more" tips --repo . more
refuses "unknown option --first-parent=1" log --repo . --from x --first-parent=1
refuses "no value after --repo" tips --repo
refuses "missing --mirror" fetch --url x --ssh-key y
refuses "missing --repo" log --first-parent --from x
refuses "bad or too many values of --count" log --repo . --from x --count 100001
refuses "bad or too many values of --first-parents" base --repo . --target x --first-parents 0
refuses "bad or too many values of --oid" tree --repo . --commit x $(printf -- '--oid x %.0s' {1..161})
refuses "bad or too many values of --count" log --repo=. --from=x --count=1x

# ---- a repository with history ----
git init -q -b main co && mkdir -p co/kernels/deep && cd co || exit 1
echo one >kernels/a && printf '#!/bin/sh\n' >kernels/deep/run && chmod +x kernels/deep/run && ln -s ../a kernels/deep/link && echo 'flopwatch: 1' >.flopwatch.yaml
git add . && git commit -qm 'first: <script>alert(1)</script>' && first=$(git rev-parse HEAD)
echo two >>kernels/a && git commit -qam 'second' && second=$(git rev-parse HEAD)
git checkout -qb topic "$first" && echo three >>kernels/a && git commit -qam 'third' && third=$(git rev-parse HEAD)
git checkout -q --orphan island && git commit -qm 'island' && island=$(git rev-parse HEAD)
git checkout -q main
cd .. && git clone -q --bare co bare.git

for repo in co bare.git co/.git; do
	ok "tips of $repo" "$git_" tips --repo "$repo"
	is "three branches in $repo" "$(j .name | sort | tr '\n' ' ')" "island main topic "
	is "main of $repo" "$(jq -r 'select(.name=="main").commit' <<<"$out")" "$second"
done
quiet git -C co worktree add ../tree topic
ok "tips of a linked worktree" "$git_" tips --repo tree
is "it has the same branches" "$(wc -l <<<"$out")" 3

ok "base of a branch" "$git_" base --repo co --target "$third" --upstream main --first-parents 5
is "its merge base" "$(j .merge_base)" "$first"
is "its first parents" "$(j '.first_parents|join(" ")')" "$first"
ok "base of main itself" "$git_" base --repo co --target "$second" --upstream main --first-parents 1
is "is itself" "$(j .merge_base)" "$second"
is "one first parent" "$(j '.first_parents|join(" ")')" "$first"
ok "no common ancestor" "$git_" base --repo co --target "$island" --upstream main --first-parents 5
is "merge base is null" "$(j '.merge_base,(.first_parents|length)' | tr '\n' ' ')" "null 0 "
ok "no such upstream" "$git_" base --repo co --target "$third" --upstream nowhere
is "merge base is null then, too" "$(j '.merge_base,.upstream' | tr '\n' ' ')" "null null "
fails "unknown target" 3 "$git_" base --repo co --target 0123456789012345678901234567890123456789 --upstream main
like "it says what and where" "$out" 'commit 0123456789.* is not in co; a force push may have removed it'
fails "a short hash is not taken" 1 "$git_" base --repo co --target "${third:0:10}" --upstream main
fails "a revision expression is not taken" 1 "$git_" base --repo co --target 'main^{tree}' --upstream main
fails "a tree is no commit" 3 "$git_" base --repo co --target "$(git -C co rev-parse main:)" --upstream main

quiet git clone -q --bare --depth 1 --no-single-branch "file://$tmp/co" shallow.git
fails "base of main in a clone of depth 1" 1 "$git_" base --repo shallow.git --target "$second" --first-parents 5
like "says what it is, where, and what to do" "$out" "^flopwatch-git: shallow.git is a shallow clone, which ends at commit ${second:0:12}; complete it with .git fetch --unshallow.\$"
fails "base of a branch there" 1 "$git_" base --repo shallow.git --target "$third" --upstream main
like "reports that as well" "$out" "shallow.git is a shallow clone, in which ${third:0:12} and ${second:0:12} have no common ancestor; complete"
ok "a log ends with the clone" "$git_" log --repo shallow.git --from "$third" --first-parent
is "without an error" "$(j .commit)" "$third"
for verb in "heads --url file://$tmp/shallow.git" "fetch --url file://$tmp/shallow.git --mirror $tmp/shallow.mirror"; do
	fails "the same clone by URL, ${verb%% *}" 1 "$git_" $verb
	like "says what it is, where, and what to do" "$out" "file://$tmp/shallow.git is a shallow clone, whose history cannot be fetched; complete it with .git fetch --unshallow.\$"
done
quiet git -C shallow.git fetch -q --depth 2 origin main
ok "with the parent at hand" "$git_" base --repo shallow.git --target "$second" --first-parents 5
is "it is the base" "$(j '.first_parents|join(" ")')" "$first"

ok "tree" "$git_" tree --repo co --commit "$second" --blob .flopwatch.yaml --blob nope --blob kernels/a --oid kernels --oid kernels/a --oid '' --oid nope
is "commit, parent, time" "$(j '.commit,.parents[0],.committed_at_ms' | tr '\n' ' ')" "$second $first 1700000000000 "
is "tree" "$(j .tree)" "$(git -C co rev-parse "$second:")"
is "a file" "$(j '.blobs["kernels/a"]' | base64 -d)" "$(printf 'one\ntwo')"
is "an absent file is null" "$(j '.blobs.nope')" null
is "oid of a folder" "$(j '.oids.kernels|.oid+.kind')" "$(git -C co rev-parse "$second:kernels")tree"
is "oid of a file" "$(j '.oids["kernels/a"]|.oid+.kind')" "$(git -C co rev-parse "$second:kernels/a")blob"
is "oid of the root" "$(j '.oids[""].oid')" "$(j .tree)"
is "absent oid is null" "$(j .oids.nope)" null
is "no problem" "$(j .problem)" ""
for path in ../x /etc/passwd a//b a/ ./a kernels/../a; do fails "path $path is refused" 1 "$git_" tree --repo co --commit "$second" --oid "$path"; done
is "path . is the whole tree" "$("$git_" tree --repo co --commit "$second" --oid . | jq -r '.oids["."].oid == .tree and .oids["."].kind == "tree"')" true
ok "subject with markup" "$git_" tree --repo co --commit "$first"
is "comes as it is" "$(j .subject)" 'first: <script>alert(1)</script>'

ok "log" "$git_" log --repo co --from "$third" --count 10 --first-parent
is "newest first" "$(j .commit | tr '\n' ' ')" "$third $first "
for count in "--count 1" --count=1; do
	ok "log with $count" "$git_" log --repo=co --from "$third" $count
	is "stops there" "$(j .commit)" "$third"
done

ok "changes" "$git_" changes --repo co --from "$first" --commit "$second"
is "the file that differs" "$(j '(.number | tostring) + " " + (.paths | join(" "))')" "1 kernels/a"
ok "changes from a commit without it" "$git_" changes --repo bare.git --from "$second" --commit "$second"
is "none" "$(j '(.number | tostring) + " " + (.paths | tostring)')" "0 []"
(cd co && git checkout -q --detach "$second" && for i in 1 2 3; do echo "$i" >"new$i"; done && git rm -q kernels/a && git add . && git commit -qm several)
several=$(git -C co rev-parse HEAD)
git -C co checkout -q main
ok "changes with --count" "$git_" changes --repo co --from "$second" --commit "$several" --count 2
is "names the first ones, and the number of all, removed files included" "$(j '(.number | tostring) + " " + (.paths | join(" "))')" "4 kernels/a new1"
fails "changes from an unknown commit" 3 "$git_" changes --repo co --from 0123456789012345678901234567890123456789 --commit "$second"

# ---- tar ----
tree=$(git -C co rev-parse "$second:kernels")
"$git_" tar --repo co --oid "$tree" >1.tar && "$git_" tar --repo bare.git --oid "$tree" >2.tar
ok "equal trees give equal bytes" cmp 1.tar 2.tar
mkdir x && ok "tar reads it" tar xf 1.tar -C x
is "contents" "$(cat x/a x/deep/link)" "$(printf 'one\ntwo\none\ntwo')"
is "modes" "$(stat -c %a x/a x/deep/run x/deep | tr '\n' ' ')" "644 755 755 "
is "times are zero" "$(stat -c %Y x/a x/deep | tr '\n' ' ')" "0 0 "
is "names in order" "$(tar tf 1.tar | tr '\n' ' ')" "a deep/ deep/link deep/run "
"$git_" tar --repo co --oid "$(git -C co rev-parse "$second:kernels/a")" >3.tar
is "one file is named blob" "$(tar xOf 3.tar blob)" "$(printf 'one\ntwo')"
fails "a commit is no tree" 1 "$git_" tar --repo co --oid "$second"
fails "unknown object" 3 "$git_" tar --repo co --oid 0123456789012345678901234567890123456789
(cd co && mkdir long && p=long && for i in 1 2 3; do p=$p/$(printf 'd%.0s' {1..40}); done && mkdir -p "$p" && echo x >"$p/$(printf 'f%.0s' {1..90})" && git add . && git commit -qm long)
"$git_" tar --repo co --oid "$(git -C co rev-parse HEAD:)" >4.tar
is "long names use the prefix" "$(tar tf 4.tar | awk '{ print length }' | sort -n | tail -1)" "$((4 + 3 * 41 + 91))"
head -c 100000 /dev/urandom >co/big && git -C co add big && git -C co commit -qm big
"$git_" tar --repo co --oid "$(git -C co rev-parse HEAD:)" | tar xO big | cmp - co/big
is "binary contents survive" "$?" 0
sh -c '"$1" tar --repo co --oid "$2" | true' sh "$git_" "$(git -C co rev-parse HEAD:)" 2>/dev/null
ok "a reader that goes away is no crash" "$git_" tips --repo co

# ---- files that must not be sent ----
git init -q --bare evil.git
blob=$(echo evil | git -C evil.git hash-object -w --stdin)
sub=$(printf '100644 blob %s\tx\n' "$blob" | git -C evil.git mktree)
link() { printf '%s' "$1" | git -C evil.git hash-object -w --stdin; }
commit_of() { git -C evil.git commit-tree -m evil "$1"; }
evil() { # name, regex of the problem, mktree lines
	local t c
	t=$(printf '%b' "$3" | git -C evil.git mktree --missing) || { tap_result 1 "$1: the tree could not be made"; return; }
	c=$(commit_of "$t")
	ok "$1: tree answers" "$git_" tree --repo evil.git --commit "$c" --oid ''
	like "$1: and reports the problem" "$(j .problem)" "$2"
	fails "$1: tar refuses" 1 sh -c '"$1" tar --repo evil.git --oid "$2" >evil.tar' sh "$git_" "$t"
	is "$1: and writes nothing" "$(stat -c %s evil.tar)" 0
}
evil "a folder .." 'no file may have' "040000 tree $sub\t..\n"
evil "a file .git" 'no file may have' "100644 blob $blob\t.git\n"
evil "a file .GiT" 'no file may have' "100644 blob $blob\t.GiT\n"
evil "a submodule" '^sub is a submodule, whose files no commit has and flopwatch does not fetch; leave it out of `inputs`, or commit the files themselves' "160000 commit $first\tsub\n"
evil "a link to /etc" 'absolute' "120000 blob $(link /etc/passwd)\tl\n"
evil "a link upwards" 'leaves' "120000 blob $(link ../x)\tl\n"
evil "a link back up behind a name" 'leaves' "120000 blob $(link x/../../y)\tl\n"
evil "a link to nothing" 'link' "120000 blob $(link '')\tl\n"
evil "a link and a folder of one name" 'two entries' "120000 blob $(link x)\tl\n040000 tree $sub\tl\n"
evil "a name too long" 'too long' "100644 blob $blob\t$(printf 'n%.0s' {1..101})\n"
deep=$sub
for i in $(seq 70); do deep=$(printf '040000 tree %s\td\n' "$deep" | git -C evil.git mktree); done
lfs=$(printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 8388608\n' 1 | git -C evil.git hash-object -w --stdin)
evil "a pointer of git-LFS" '^[^ ]*weights.bin is a git-LFS pointer, and its content .8388608 bytes. is not in the commit; commit the file itself' "100755 blob $lfs\tweights.bin\n"
hawser=$(printf 'version https://hawser.github.com/spec/v1\noid sha256:%064d\nsize 12\n' 1 | git -C evil.git hash-object -w --stdin)
evil "an old one, in a folder" 'd/w is a git-LFS pointer, and its content .12 bytes.' "040000 tree $(printf "100644 blob $hawser\tw\n" | git -C evil.git mktree)\td\n"
annex=$(printf '/annex/objects/SHA256E-s4194304--%064d.bin\n' 1 | git -C evil.git hash-object -w --stdin)
evil "a pointer of git-annex" 'w is a git-annex pointer, and its content .4194304 bytes.' "100644 blob $annex\tw\n"
evil "a link of git-annex" 'w is a git-annex link, and its content .77 bytes.' "120000 blob $(link .git/annex/objects/Vf/W3/SHA256E-s77-m1--0f.bin/SHA256E-s77-m1--0f.bin)\tw\n"
evil "one of a key without a size" 'w is a git-annex link, and its content is not in the commit' "120000 blob $(link .git/annex/objects/Vf/W3/URL--http/URL--http)\tw\n"
c=$(commit_of "$(printf "100644 blob $lfs\tweights.bin\n" | git -C evil.git mktree)")
ok "a pointer that is an input by itself" "$git_" tree --repo evil.git --commit "$c" --oid weights.bin
like "is a problem" "$(j .problem)" '^weights.bin is a git-LFS pointer'
about=$(printf 'version https://git-lfs.github.com/spec/v1 is what a pointer begins with\n' | git -C evil.git hash-object -w --stdin)
c=$(commit_of "$(printf "100644 blob $about\tREADME\n" | git -C evil.git mktree)")
ok "a text about them" "$git_" tree --repo evil.git --commit "$c" --oid ''
is "is none" "$(j .problem)" ""
evil "nested too deeply" 'deeply' "040000 tree $deep\td\n"
bomb=$sub
for i in $(seq 12); do bomb=$(printf "040000 tree $bomb\t%d\n" 0 1 2 3 4 5 6 7 8 9 | git -C evil.git mktree); done
evil "a tree of 10^12 files" 'too many' "040000 tree $bomb\td\n"
c=$(commit_of "$(printf "160000 commit $first\tkernels\n100644 blob $blob\t.flopwatch.yaml\n" | git -C evil.git mktree --missing)")
ok "a submodule where inputs should be" "$git_" tree --repo evil.git --commit "$c" --blob .flopwatch.yaml --oid kernels
is "is null with a problem" "$(j '.oids.kernels,.problem' | tr '\n' ' ')" "null kernels is a submodule, whose files no commit has and flopwatch does not fetch; leave it out of \`inputs\`, or commit the files themselves "
c=$(commit_of "$(printf "120000 blob $(link kernels2)\tkernels\n120000 blob $(link /etc/passwd)\t.flopwatch.yaml\n" | git -C evil.git mktree --missing)")
ok "links where files should be" "$git_" tree --repo evil.git --commit "$c" --blob .flopwatch.yaml --oid kernels
is "are null with a problem" "$(j '.oids.kernels,.blobs[".flopwatch.yaml"],.problem' | tr '\n' ' ')" "null null .flopwatch.yaml is not a plain file "
c=$(commit_of "$(printf "040000 tree $sub\tother\n" | git -C evil.git mktree)")
ok "a commit without kernels" "$git_" tree --repo evil.git --commit "$c" --oid kernels
is "says null" "$(j .oids.kernels)" null
t=$(printf "100644 blob $blob\tnew\\\\nline\n120000 blob $(link ../x/x)\tin\n" | git -C evil.git mktree)
t=$(printf "040000 tree $t\td\n040000 tree $sub\tx\n" | git -C evil.git mktree)
ok "links inside and unusual names are copied" sh -c '"$1" tar --repo evil.git --oid "$2" >good.tar && tar tf good.tar' sh "$git_" "$t"
big=$(head -c 1200000 /dev/zero | git -C evil.git hash-object -w --stdin)
c=$(commit_of "$(printf "100644 blob $big\tm.yaml\n" | git -C evil.git mktree)")
ok "a manifest of 1.2 MB" "$git_" tree --repo evil.git --commit "$c" --blob m.yaml
like "is not read" "$(j '(.blobs["m.yaml"]|tostring)+" "+.problem')" '^null m.yaml is larger'

# ---- encodings ----
git init -q --bare enc.git
empty=$(git -C enc.git mktree </dev/null)
said_of() { # encoding, author, message: author and subject as the tree verb prints them
	local c
	c=$(GIT_AUTHOR_NAME=$2 git -C enc.git -c i18n.commitEncoding="$1" commit-tree -m "$3" "$empty")
	out=$("$git_" tree --repo enc.git --commit "$c") && j '.author+" "+.subject'
}
like "a commit in Latin-1" "$(said_of ISO-8859-1 $'Ren\xe9 M\xfcller' $'sch\xf6ner')" '^René Müller <.*> schöner$'
like "in the code page of Windows" "$(said_of CP1252 $'Ren\xe9' $'\x93x\x94')" '^René <.*> “x”$'
like "in Shift-JIS" "$(said_of Shift_JIS x $'\x83\x4a\x81\x5b\x83\x6c\x83\x8b')" 'カーネル$'
like "a byte that the encoding does not have" "$(said_of EUC-JP x $'a\xff b')" '> a� b$'
like "an unknown encoding" "$(said_of no-such x $'sch\xf6ner')" '> sch�ner$'
like "options for iconv are no encoding" "$(said_of 'latin1//TRANSLIT' x $'sch\xf6ner')" '> sch�ner$'
like "UTF-8, named" "$(said_of utf-8 'René' 'schöner')" '^René <.*> schöner$'

# ---- formats ----
format_of() { # folder, extension, value
	git clone -q --bare co "$1" && git -C "$1" config core.repositoryFormatVersion 1 && git -C "$1" config "extensions.$2" "$3"
}
for extension in worktreeConfig preciousObjects relativeWorktrees noop; do
	format_of "ext-$extension.git" "$extension" true
	ok "extensions.$extension is read" "$git_" tips --repo "ext-$extension.git"
	ok "and fetched" "$git_" fetch --url "file://$tmp/ext-$extension.git" --mirror "$tmp/ext-$extension.mirror"
	ok "and its trees are archived" sh -c '"$1" tar --repo "$2" --oid "$3" >/dev/null' sh "$git_" "ext-$extension.mirror" "$(git -C co rev-parse "$second:")"
done
git init -q --bare --object-format=sha256 sha256.git
format_of reftable.git refStorage reftable
format_of unknown.git noSuchThing true
for pair in 'sha256|it stores SHA-256 objects .extensions.objectFormat.*git fast-export' 'reftable|it stores refs as reftable .extensions.refStorage.*git refs migrate --ref-format=files' 'unknown|it uses an extension of .*extensions.nosuchthing'; do
	fails "${pair%%|*} in place" 1 "$git_" tips --repo "${pair%%|*}.git"
	like "is refused with what to do" "$out" "open repository ${pair%%|*}.git: ${pair#*|}"
	fails "${pair%%|*} by URL" 1 "$git_" heads --url "file://$tmp/${pair%%|*}.git"
	like "is refused in the same way" "$out" "${pair%%|*}.git: ${pair#*|}"
done

# ---- names ----
git init -q --bare names.git
c=$(git -C names.git commit-tree -m $'subject \e[31m\u202e' "$(git -C names.git mktree </dev/null)")
# git refuses a few of these on its command line, so they are written where libgit2 finds them
long=$(printf 'l%.0s' {1..4000})
{
	echo "# pack-refs with: peeled fully-peeled "
	for name in -x 'a/..b' "it's" 'a"b' '<b>' 'a&b' '50%41' $'\u202ertl' $'\xff\xfe' 'a;$(id)|`id`' 'x/-/y' "$long" 'ü'; do echo "$c refs/heads/$name"; done | sort
} >names.git/packed-refs
ok "hostile names" "$git_" tips --repo names.git
is "every line is JSON" "$(jq -s length <<<"$out")" "$(wc -l <<<"$out")"
for pair in "-x|-x" "it%27s|it's" "a%22b|a\"b" "%3Cb%3E|<b>" "a%26b|a&b" "50%2541|50%41" "%E2%80%AErtl|\\u202ertl" "%FF%FE|$(printf '\xef\xbf\xbd\xef\xbf\xbd')" 'a%3B%24%28id%29%7C%60id%60|a;$(id)|`id`' "x/-/y|x/-/y" "%C3%BC|ü"; do
	is "display of ${pair%%|*}" "$(jq -r --arg n "${pair%%|*}" 'select(.name==$n).display' <<<"$out")" "${pair#*|}"
done
like "4000 bytes are reported as too long" "$(jq -r --arg n "$long" 'select(.name==$n).commit+"|"+.problem' <<<"$out")" '^\|.+'
is "and shown short" "$(jq -r --arg n "$long" 'select(.name==$n).display|length' <<<"$out")" 1024
for name in -x %FF%FE 50%2541 'it%27s' %E2%80%AErtl; do
	ok "--upstream $name" "$git_" base --repo names.git --target "$c" --upstream "$name"
	is "is found" "$(j .merge_base)" "$c"
done
for name in %GG % %0 '%00'; do fails "--upstream '$name' is refused" 1 "$git_" base --repo names.git --target "$c" --upstream "$name"; done
ok "a subject with escapes" "$git_" tree --repo names.git --commit "$c"
is "is made visible" "$(j .subject)" 'subject \x1b[31m\u202e'

# ---- bad repositories ----
fails "missing" 75 "$git_" tips --repo nowhere
like "reports that in one line" "$out" '^flopwatch-git: nowhere: no git repository there; check the path \(see doc/troubleshooting.md#no-repository\)$'
mkdir plain && fails "a plain folder" 75 "$git_" tips --repo plain
fails "a folder inside a checkout is not searched upwards" 75 "$git_" tips --repo co/kernels
git init -q --bare empty.git && ok "empty" "$git_" tips --repo empty.git
is "has no lines" "$out" ""
cp -r bare.git half.git && echo nonsense >half.git/refs/heads/broken && ok "one broken ref" "$git_" tips --repo half.git
is "does not hide the others" "$(jq -r 'select(.commit!="").name' <<<"$out" | sort | tr '\n' ' ')" "island main topic "
like "and is no branch that was deleted" "$(jq -r 'select(.name == "broken").problem' <<<"$out")" 'corrupted loose reference'
cp -r bare.git lost.git && rm -rf lost.git/objects/* && ok "lost objects" "$git_" tips --repo lost.git
is "are a problem of each branch" "$(j .problem | sort -u)" "its commit is missing"
fails "a commit that is lost" 3 "$git_" tree --repo lost.git --commit "$second"
cp -r bare.git cut.git && for f in cut.git/objects/pack/*.pack cut.git/objects/??/*; do [ -f "$f" ] && chmod u+w "$f" && head -c 40 "$f" >"$f.x" && mv "$f.x" "$f"; done
# zlib in libgit2 1.5 never ends on these; a low limit of processor time replaces the usual one
fails "cut objects" 1 bash -c 'ulimit -S -t 2; exec "$@"' bash "$git_" tree --repo cut.git --commit "$second"
like "are reported in one line" "$out" '^flopwatch-git: .*(broken|corrupt|read commit)'
if [ "$(id -u)" = 0 ]; then
	cp -r co theirs && chown -R 12345 theirs && ok "another user's" "$git_" tips --repo theirs
	ok "another user's by fetch" "$git_" fetch --url "file://$tmp/theirs" --mirror "$tmp/theirs.mirror"
else
	skip "another user's" "only root can give files away"
fi
cp -r co hooked && printf '#!/bin/sh\ntouch %s/ran\n' "$tmp" >hooked/.git/hooks/post-checkout && chmod +x hooked/.git/hooks/post-checkout
git -C hooked config filter.x.smudge "touch $tmp/ran" && git -C hooked config core.fsmonitor "touch $tmp/ran" && echo '* filter=x' >hooked/.gitattributes
ok "a checkout with hooks and filters" "$git_" snapshot --worktree hooked
ok "its tips" "$git_" tips --repo hooked
is "nothing of it was run" "$(ls ran 2>/dev/null)" ""

# ---- fetch ----
gcc -std=gnu17 -O1 -shared -fPIC -o at_call.so "$root/tests/support/at_call.c" -ldl
m=$tmp/mirror.git
ok "heads" "$git_" heads --url "file://$tmp/bare.git"
is "are the tips of a server" "$(sort <<<"$out")" "$("$git_" tips --repo "$tmp/bare.git" | sort)"
fails "heads of nothing" 75 "$git_" heads --url "file://$tmp/nothing"
fails "heads by a way that is none" 1 "$git_" heads --url http://example.org/x
ok "first fetch" "$git_" fetch --url "$tmp/bare.git" --mirror "$m"
is "it prints tips" "$(j .name | sort | tr '\n' ' ')" "island main topic "
is "HEAD follows" "$(cat "$m/HEAD")" "ref: refs/heads/main"
ok "no other file is left" test ! -e "$m.new"
is "objects are its own, not hard links" "$(find "$m/objects" -type f -links +1)" ""
quiet git -C co push -q ../bare.git "+$second:refs/heads/topic" "$third:refs/heads/feature/x" :island
ok "fetch again: rewritten, new, deleted" "$git_" fetch --url "$tmp/bare.git" --mirror "$m"
is "the branches are those" "$(jq -r '.name+"="+.commit' <<<"$out" | sort | tr '\n' ' ')" "feature/x=$third main=$second topic=$second "
ok "what was pushed away can still be read" "$git_" tree --repo "$m" --commit "$island"
quiet git -C co push -q ../bare.git ":refs/heads/feature/x" && quiet git -C co push -q ../bare.git "$third:refs/heads/feature"
ok "a folder of refs becomes a ref" "$git_" fetch --url "$tmp/bare.git" --mirror "$m"
is "and is there" "$(jq -r 'select(.name=="feature").commit' <<<"$out")" "$third"
quiet git -C "$m" notes --ref flopwatch add -m note "$second"
ok "fetch after a note" "$git_" fetch --url "$tmp/bare.git" --mirror "$m"
is "our own refs survive" "$(git -C "$m" notes --ref flopwatch show "$second")" note
ok "the source may move" "$git_" fetch --url "file://$tmp/co" --mirror "$m"
touch "$m/refs/heads/main.lock" "$m/packed-refs.lock" "$m/objects/pack/pack_git2_left"
quiet git -C co checkout -q main && quiet git -C co commit -q --allow-empty -m more
ok "locks of a killed run" "$git_" fetch --url "$tmp/co" --mirror "$m"
is "do not hold it up" "$(jq -r 'select(.name=="main").commit' <<<"$out")" "$(git -C co rev-parse main)"
mkdir "$m.new" && touch "$m.new/half" && rm -rf "${m:?}/objects"
ok "a mirror without objects" "$git_" fetch --url "$tmp/co" --mirror "$m"
ok "is rebuilt" git -C "$m" fsck
ok "and the partial mirror is removed" test ! -e "$m.new"
for f in "$m"/objects/pack/*.pack; do chmod u+w "$f"; head -c 100 "$f" >"$f.x" && mv "$f.x" "$f"; done
ok "a mirror with a cut pack" "$git_" fetch --url "$tmp/co" --mirror "$m"
ok "is whole again" git -C "$m" fsck
# ---- after a power loss ----
quiet git init -q -b main power && mkdir -p power/kernels
seq 3000 >power/kernels/numbers && quiet git -C power add -A && quiet git -C power commit -q -m one
quiet git clone -q --bare power power.git
ok "a mirror" "$git_" fetch --url "$tmp/power.git" --mirror "$tmp/clean"
unflushed=""
for file in $(cd clean && find . -mindepth 1 ! -name '*.sample' ! -path './objects/??*' | cut -c 3-) objects/pack; do # one that cannot be flushed is no mirror
	AT_CALL="fsync 1 EIO unflushed.new/$file" LD_PRELOAD=$tmp/at_call.so quiet "$git_" fetch --url "$tmp/power.git" --mirror "$tmp/unflushed" || [ -e unflushed ] || continue
	unflushed+=" $file"
	rm -rf unflushed
done
is "all of a new mirror is flushed before it has its name" "$unflushed" ""
seq 3001 >power/kernels/numbers && quiet git -C power commit -q -a -m two && quiet git -C power push -q ../power.git main
newest=$(git -C power rev-parse main) bad=""
damage() { # file, how
	chmod u+w "$1"
	case $2 in
	empty) : >"$1" ;;
	zeros) head -c "$(stat -c %s "$1")" /dev/zero >"$1.0" && mv "$1.0" "$1" ;;
	half) truncate -s $(($(stat -c %s "$1") / 2)) "$1" ;;
	esac
}
for file in $(cd clean && find . -type f ! -name '*.sample'); do
	for how in empty zeros half; do
		rm -rf hurt && cp -r clean hurt
		damage "hurt/$file" $how
		"$git_" fetch --url "$tmp/power.git" --mirror "$tmp/hurt" >tips 2>said || bad+="$file $how: $(cat said)"$'\n'
		[ "$(jq -r .commit tips 2>&1)" = "$newest" ] && git --git-dir hurt fsck --full >said 2>&1 || bad+="$file $how: $(cat said)"$'\n'
	done
done
is "whichever of its files is damaged, the next fetch makes it whole" "$bad" ""
blob=$(git -C power rev-parse main:kernels/numbers) tree=$(git -C power rev-parse main:kernels)
hurt() { # object, how: a mirror with that object damaged, in a separate file
	rm -rf hurt && cp -r clean hurt && quiet "$git_" fetch --url "$tmp/power.git" --mirror "$tmp/hurt"
	mkdir packs && mv hurt/objects/pack/*.pack packs && rm -f hurt/objects/pack/*
	for pack in packs/*; do git --git-dir hurt unpack-objects -q <"$pack"; done
	rm -rf packs
	damage "hurt/objects/${1:0:2}/${1:2}" "$2"
}
pack_hurt() { "$git_" tar --repo "$tmp/hurt" --oid "$tree" >/dev/null; }
for object in $blob $tree; do
	for how in empty zeros; do
		hurt "$object" $how
		fails "an object that cannot be read ($how)" 75 pack_hurt
		like "is reported, with its consequence" "$out" "$object.*; the next fetch rebuilds the mirror\$"
		ok "the next fetch" "$git_" fetch --url "$tmp/power.git" --mirror "$tmp/hurt"
		ok "has done so" pack_hurt
	done
done
# the limit of 10 s of processor time, as if it were 1 s
cat >"$tmp/soon.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old)
{
	int (*real)(__itimer_which_t, const struct itimerval *, struct itimerval *);
	struct itimerval soon = *new;

	*(void **)&real = dlsym(RTLD_NEXT, "setitimer");
	soon.it_value.tv_sec /= 10;
	return real(which, &soon, old);
}
C
gcc -O1 -shared -fPIC -o "$tmp/soon.so" "$tmp/soon.c" -ldl
hurt "$blob" half
LD_PRELOAD=$tmp/soon.so fails "one at which libgit2 loops for ever" 1 pack_hurt
like "is named" "$out" "object $blob is damaged"
hurt "$blob" empty
fails "one that asks" 75 pack_hurt
mv hurt/flopwatch-damaged hurt/flopwatch-remade
fails "for what it was rebuilt for already" 1 pack_hurt
ok "asks no more" test ! -e hurt/flopwatch-damaged
rm hurt/flopwatch-*
fails "a repository that is no mirror" 1 pack_hurt
ok "is left alone" test ! -e hurt/flopwatch-damaged
mkdir notours && touch notours/file
fails "a folder that is not ours" 1 "$git_" fetch --url "$tmp/co" --mirror "$tmp/notours"
like "is not touched" "$out$(ls notours)" 'not a mirror of flopwatch; move it away.*file'
fails "a source that is missing" 75 "$git_" fetch --url "$tmp/nowhere" --mirror "$tmp/m2"
ok "leaves nothing" test ! -e "$tmp/m2" -a ! -e "$tmp/m2.new"
ok "an empty source" "$git_" fetch --url "$tmp/empty.git" --mirror "$tmp/m3"
is "has no branches" "$out" ""
quiet git -C co push -q ../empty.git main
ok "and gets some" "$git_" fetch --url "$tmp/empty.git" --mirror "$tmp/m3"
is "later" "$(j .name)" main
(exec 8>"$m.lock" && flock 8 && exec sleep 100) & holder=$!
on_exit kill "$holder"
until ! flock -n "$m.lock" true; do :; done
fails "two at once" 75 "$git_" fetch --url "$tmp/co" --mirror "$m"
like "the second gives way" "$out" 'another fetch is running'
kill "$holder" 2>/dev/null
for url in 'ext::sh -c id' 'fd::7' http://localhost/x git://localhost/x 'https://u:p@localhost/x' https://u@localhost/x -x relative/path 'ssh://h/a'"'"'b' 'ssh://-oProxyCommand=id/x' https:///x ''; do
	fails "url '$url' is refused" 1 "$git_" fetch --url "$url" --mirror "$tmp/m4"
done
unlike "without connecting" "$out" 'connect'

# ---- note, snapshot ----
printf 'ratio 0.98 \xc3\xbc\n' >note.txt
ok "note" "$git_" note --repo bare.git --commit "$second" --file note.txt
is "it is there" "$(git -C bare.git notes --ref flopwatch show "$second")" "$(cat note.txt)"
echo newer >note.txt && ok "note again" "$git_" note --repo bare.git --commit "$second" --file note.txt
is "replaces it" "$(git -C bare.git notes --ref flopwatch show "$second")" newer
fails "a note from no file" 3 "$git_" note --repo bare.git --commit "$second" --file nowhere
: >note.txt && fails "an empty note" 1 "$git_" note --repo bare.git --commit "$second" --file note.txt

# ---- killed while it writes ----
killed_at() { # N, arguments of flopwatch-git: it is killed before its Nth call that changes or opens a file
	local n=$1
	shift
	AT_CALL="any $n KILL" LD_PRELOAD=$tmp/at_call.so quiet "$git_" "$@"
}
for how in co bare.git; do
	echo "before $how" >note.txt && quiet "$git_" note --repo $how --commit "$first" --file note.txt
	left="" n=1
	while killed_at $n note --repo $how --commit "$second" --file note.txt; [ $? = 137 ]; do
		"$git_" note --repo $how --commit "$second" --file note.txt >out 2>&1 || left+="$n: $(cat out) "
		n=$((n + 1))
	done 2>/dev/null
	ok "$how: killed at each of its calls ($((n - 1)))" test $n -gt 20
	is "the next note is written, whatever the one before left" "$left" ""
	is "no lock is left" "$(find $how -name '*.lock' -o -name 'flopwatch-refs-*')" ""
	is "no note is lost" "$(git -C $how notes --ref flopwatch show "$first")" "before $how"
	ok "the repository is sound" git -C $how fsck
done
git init -q --bare other.git && git -C bare.git push -q ../other.git main
left="" n=1
while AT_CALL="any $n KILL notes" LD_PRELOAD=$tmp/at_call.so quiet "$git_" note --repo bare.git --commit "$second" --file note.txt --push "$tmp/other.git"; [ $? = 137 ]; do
	find other.git -name '*.lock' -delete # of the other side, which in production is a server's
	"$git_" note --repo bare.git --commit "$second" --file note.txt --push "$tmp/other.git" >out 2>&1 || left+="$n: $(cat out) "
	n=$((n + 1))
done 2>/dev/null
ok "killed while it pushes ($((n - 1)) times)" test $n -gt 10
is "the next is pushed" "$left" ""
AT_CALL="open 1 STOP other.git/refs/notes/flopwatch.lock" LD_PRELOAD=$tmp/at_call.so "$git_" note --repo bare.git --commit "$first" --file note.txt --push "$tmp/other.git" &
writer=$!
until [ -e other.git/refs/notes/flopwatch.lock ] || ! kill -0 $writer 2>/dev/null; do sleep 0.01; done
kill -TERM $writer && kill -CONT $writer && wait $writer
is "asked to end while the other side is written" "$?$(find other.git -name '*.lock')" 143
is "no lock is left here" "$(find bare.git -name '*.lock')" ""
touch co/.git/refs/notes/flopwatch.lock
fails "a lock of another process is preserved" 75 "$git_" note --repo co --commit "$second" --file note.txt
like "and named, with the remedy" "$out" 'refs/notes/flopwatch.lock exists: another git process is running, or was killed; if none is running, delete it$'
ok "it is there" test -e co/.git/refs/notes/flopwatch.lock
rm co/.git/refs/notes/flopwatch.lock
AT_CALL="link 1 STOP" LD_PRELOAD=$tmp/at_call.so "$git_" note --repo co --commit "$second" --file note.txt &
writer=$!
until [ -e co/.git/refs/notes/flopwatch.lock ] || ! kill -0 $writer 2>/dev/null; do sleep 0.01; done
fails "while another run has the lock" 75 "$git_" note --repo co --commit "$second" --file note.txt
like "it is not taken away" "$out" 'is being written by another flopwatch \(see doc/troubleshooting.md#two-writers\)$'
kill -TERM $writer && kill -CONT $writer
wait $writer
is "one that is asked to end in the middle ends its write first" "$?" 143
is "without a lock" "$(find co/.git -name '*.lock')" ""
cp -r bare.git mirror2.git && touch mirror2.git/flopwatch-mirror
AT_CALL="link 1 STOP" LD_PRELOAD=$tmp/at_call.so "$git_" note --repo mirror2.git --commit "$second" --file note.txt &
writer=$!
until [ -e mirror2.git/refs/notes/flopwatch.lock ] || ! kill -0 $writer 2>/dev/null; do sleep 0.01; done
ok "a concurrent fetch" "$git_" fetch --url "$tmp/bare.git" --mirror "$tmp/mirror2.git"
ok "leaves its lock" test -e mirror2.git/refs/notes/flopwatch.lock
kill -CONT $writer && wait $writer
is "and it ends well" "$?" 0

git clone -q bare.git work && cd work || exit 1
ok "snapshot of a clean tree" "$git_" snapshot --worktree .
is "is head" "$(j '.commit==.head')" true
echo changed >kernels/a && git add kernels/a && echo changed-more >kernels/a && echo new >kernels/new && echo ignored >kernels/x.o && echo '*.o' >.gitignore && rm .flopwatch.yaml && chmod +x kernels/new
before=$(git status --porcelain; git diff --cached; sha256sum .git/index)
ok "snapshot of changes" "$git_" snapshot --worktree .
snap=$(j .commit)
is "head is named" "$(j .head)" "$(git rev-parse HEAD)"
is "the files are those of the worktree" "$(git ls-tree -r --name-only "$snap" | tr '\n' ' ')" ".gitignore kernels/a kernels/deep/link kernels/deep/run kernels/new "
is "with their contents" "$(git show "$snap:kernels/a")" changed-more
is "its parent is head" "$(git rev-parse "$snap^")" "$(git rev-parse HEAD)"
is "no ref names it, which a push of all refs would publish" "$(git for-each-ref --contains "$snap")" ""
is "index and files are untouched" "$(git status --porcelain; git diff --cached; sha256sum .git/index)" "$before"
ok "snapshot from a folder inside" "$git_" snapshot --worktree kernels
is "the same files give the same commit" "$(j .commit)" "$snap"
left="" n=1
while echo $n >kernels/a; AT_CALL="any $n KILL" LD_PRELOAD=$tmp/at_call.so quiet "$git_" snapshot --worktree .; [ $? = 137 ]; do
	"$git_" snapshot --worktree . >../out 2>&1 || left+="$n: $(cat ../out) "
	n=$((n + 1))
done 2>/dev/null
is "killed while it stores ($((n - 1)) times): the next is stored" "$left$(find .git -name '*.lock')" ""
cd .. && fails "snapshot of a bare repository" 1 "$git_" snapshot --worktree bare.git
git init -q -b main young && echo x >young/x && ok "snapshot before the first commit" "$git_" snapshot --worktree young
is "has no head" "$(j .head)" null
