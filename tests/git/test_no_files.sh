#!/bin/bash
# FIFOs, sockets and folders where git has files: flopwatch-git waits for none of them, names them, and reads the other branches.
. "$(dirname "$0")/../support/tap.sh"
git_=$bin/flopwatch-git
export HOME=$tmp GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
cd "$tmp" || exit 1
quiet() { "$@" >/dev/null 2>&1; }
# A hanging program is ended: exit 124, which no test accepts as an answer.
verb() { timeout "$patience" "$git_" "$@"; }
make_socket() {
	python3 -c 'import os, socket, sys; os.chdir(os.path.dirname(sys.argv[1])); socket.socket(socket.AF_UNIX).bind(os.path.basename(sys.argv[1]))' "$1"
}

git init -q -b main co && echo one >co/a && git -C co add a && git -C co commit -q -m first && quiet git clone -q --bare co good.git
head=$(git -C co rev-parse HEAD)
problem_of() { jq -r --arg name "$1" 'select(.name == $name).problem' <<<"$out"; }

# ---- refs ----
cp -r good.git refs.git
mkdir -p refs.git/refs/heads/team refs.git/refs/tags
echo "$head" >refs.git/refs/heads/main
mkfifo refs.git/refs/heads/fifo refs.git/refs/heads/team/fifo refs.git/refs/tags/fifo
make_socket "$tmp/refs.git/refs/heads/socket"
ln -s ../tags/fifo refs.git/refs/heads/link
ln -s main refs.git/refs/heads/alias
echo "ref: refs/tags/fifo" >refs.git/refs/heads/symbolic
echo "ref: refs/heads/round" >refs.git/refs/heads/round
ok "tips of a repository with FIFOs among its refs" verb tips --repo refs.git
is "the branches that are" "$(jq -r 'select(.problem == null) | .name + " " + .commit' <<<"$out")" "alias $head
main $head"
is "a FIFO" "$(problem_of fifo)" "refs/heads/fifo is a FIFO, not a file"
is "one in a folder" "$(problem_of team/fifo)" "refs/heads/team/fifo is a FIFO, not a file"
is "a socket" "$(problem_of socket)" "refs/heads/socket is a socket, not a file"
is "a link to one" "$(problem_of link)" "refs/heads/link is a FIFO, not a file"
is "a ref that names one" "$(problem_of symbolic)" "refs/tags/fifo is a FIFO, not a file"
like "a ref that names itself" "$(problem_of round)" "without an end"
is "no more" "$(jq -r .name <<<"$out" | wc -l)" 8
cp -r good.git packed.git && git -C packed.git pack-refs --all && mkfifo packed.git/refs/heads/main
ok "tips where a FIFO hides a packed ref" verb tips --repo packed.git
is "it is what counts, as with git" "$(problem_of main)" "refs/heads/main is a FIFO, not a file"
fails "base with an upstream that is a FIFO" 1 verb base --repo refs.git --target "$head" --upstream fifo
like "reports that" "$out" 'read branch fifo: refs/heads/fifo is a FIFO, not a file'
for verb in "heads --url file://$tmp/refs.git" "fetch --url file://$tmp/refs.git --mirror $tmp/m.git"; do
	fails "the same repository by URL, ${verb%% *}" 1 verb $verb
	like "names one" "$out" "refs.git/refs/[a-z/]* is a (FIFO|socket), not a file; remove it"
done

# ---- files that all refs need ----
for place in HEAD config packed-refs shallow commondir objects/info/alternates objects/pack/pack-1.idx "objects/${head:0:2}/${head:2}" index info/attributes; do
	rm -rf one.git && cp -r good.git one.git && mkdir -p "one.git/$(dirname "$place")" && rm -f "one.git/$place"
	mkfifo "one.git/$place"
	for verb in "tips" "log --from $head" "base --target $head" "tree --commit $head"; do
		fails "$place is a FIFO: ${verb%% *}" 1 verb ${verb%% *} --repo one.git ${verb#"${verb%% *}"}
		is "$place is named" "${out##*/one.git/}" "$place is a FIFO, not a file; remove it"
	done
	fails "$place is a FIFO: heads" 1 verb heads --url "file://$tmp/one.git"
	rm "one.git/$place" && make_socket "$tmp/one.git/$place"
	fails "$place is a socket" 1 verb tips --repo one.git
	is "$place is named then, too" "${out##*/one.git/}" "$place is a socket, not a file; remove it"
done
rm -rf one.git && cp -r good.git one.git && rm one.git/HEAD && mkdir one.git/HEAD
fails "HEAD is a folder" 75 verb tips --repo one.git
cp -r good.git far.git && rm -rf far.git/objects/pack && mkfifo far.git/objects/pack-1 && mkdir far.git/objects/pack && mkfifo far.git/objects/pack/pack-1.pack
rm -rf one.git && cp -r good.git one.git && echo "$tmp/far.git/objects" >one.git/objects/info/alternates
fails "a FIFO among the packs of an alternate" 1 verb tips --repo one.git
like "is named" "$out" "far.git/objects/pack/pack-1.pack is a FIFO, not a file"

# ---- work trees ----
cp -r co tree && rm -rf tree/.git && mkfifo tree/.git
fails "a .git that is a FIFO" 1 verb snapshot --worktree tree
like "is named" "$out" 'tree/.git is a FIFO, not a file'
mkdir -p tree/deep/er
fails "from a folder below" 1 verb snapshot --worktree tree/deep/er
like "it is found as well" "$out" 'tree/.git is a FIFO, not a file'
quiet git -C co worktree add ../linked -b side
ok "a linked worktree is read" verb tips --repo linked
is "with all branches" "$(jq -r .name <<<"$out" | sort | xargs)" "main side"
rm co/.git/worktrees/linked/HEAD && mkfifo co/.git/worktrees/linked/HEAD
fails "its own HEAD as a FIFO" 1 verb snapshot --worktree linked
like "is named" "$out" 'worktrees/linked/HEAD is a FIFO, not a file'
for name in .gitignore .gitattributes sub/.gitignore; do
	rm -rf files && cp -r co files && rm -rf files/.git/worktrees && mkdir files/sub && echo x >files/sub/x && mkfifo "files/$name"
	fails "$name of a work tree is a FIFO" 1 verb snapshot --worktree files
	like "$name is named" "$out" "files/$name is a FIFO, not a file"
done
