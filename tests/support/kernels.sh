# kernels.sh - the kernels of this checkout, for shell tests. Source it after tap.sh.
#
#   copy_kernels FOLDER   kernels/ as FOLDER, with the objects of its modules for CPUs that `make test-kernels` has built, so that
#                         make compiles there only what a test changes; all, if they have not been built
#   change_kernels FROM TO FILE SCRIPT...
#                         TO becomes a copy of FROM, which copy_kernels has made, in which each sed script has changed the file before
#                         it. FROM and its objects stay as they are: make compiles in TO only what the changes need, and nothing
#                         again for the next copy. Fails if a script changes nothing
copy_kernels() {
	cp -rp "$root/kernels" "$1" && rm -rf "$1/build" || return 1
	# by their dates, make finds objects that are older than a source
	[ ! -d "$root/build/tests/kernels/build" ] || cp -rp "$root/build/tests/kernels/build" "$1/build"
}
change_kernels() {
	local from=$1 to=$2
	shift 2
	rm -rf "$to" && cp -rp "$from" "$to" || return 1
	while [ $# != 0 ]; do
		sed -i "$2" "$to/$1" || return 1
		! cmp -s "$to/$1" "$from/$1" || return 1
		shift 2
	done
}
