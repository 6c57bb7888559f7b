# kernels.sh - the kernels of this checkout, for shell tests. Source it after tap.sh.
#
#   copy_kernels FOLDER   kernels/ as FOLDER, with the objects of its modules for CPUs that `make test-kernels` has built, so that
#                         make compiles there only what a test changes; all, if they have not been built
copy_kernels() {
	cp -rp "$root/kernels" "$1" && rm -rf "$1/build" || return 1
	# by their dates, make finds objects that are older than a source
	[ ! -d "$root/build/tests/kernels/build" ] || cp -rp "$root/build/tests/kernels/build" "$1/build"
}
