#!/bin/bash
# The Python client, as pip installs it: against a daemon with two branches, and without pandas.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

python=
for p in python3 /usr/bin/python3; do
	"$p" -c 'import pandas, setuptools, pip' 2>/dev/null && { python=$p; break; }
done
[ -n "$python" ] || { skip "the Python client" "there is no python3 with pandas, pip and setuptools"; exit 0; }

cp -r "$root/clients/python" "$tmp/source" # building writes into its folder
"$python" -m pip install --quiet --no-index --no-build-isolation --no-deps --target "$tmp/installed" "$tmp/source" >"$tmp/pip.log" 2>&1
tap_result $? "pip installs the client" "$(tail -n 8 "$tmp/pip.log")"

new_repo kernels
write_config
echo 'requests_per_minute: 30' >>"$tmp/c.yml"
start_daemon || exit 1
push kernels main
base=$(head_of kernels)
is "main is judged" "$(result_of "$base")" "done unchanged"
branch kernels side main
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels side
is "a slower branch is judged" "$(result_of "$(head_of kernels)")" "done regression"
branch kernels main main
echo 1.07 >"$tmp/kernels/kernels/factor"
commit kernels "also slower"
push kernels main
is "a slower commit of main is judged" "$(result_of "$(head_of kernels)")" "done regression"

run() { # log, environment...
	local log=$1
	shift
	env PYTHONPATH="$tmp/installed" PYTHONDONTWRITEBYTECODE=1 "$@" timeout -k 5 300 "$python" "$root/tests/client/client.py" "http://127.0.0.1:$(port)" kernels \
		"$(head_of kernels)" "$base" >"$log" 2>&1
	tap_result $? "${log##*/} ends without an error" "$(tail -n 8 "$log")"
	while IFS= read -r line; do
		case "$line" in
		"ok "*) tap_result 0 "${line#ok * - }" ;;
		"not ok "*) tap_result 1 "${line#not ok * - }" "$(grep -A1 -F "$line" "$log" | sed 1d)" ;;
		esac
	done <"$log"
}
run "$tmp/with-pandas"
like "every check ran" "$(grep -c '^ok' "$tmp/with-pandas")" '^52$'
mkdir "$tmp/none"
echo 'raise ImportError("hidden")' >"$tmp/none/pandas.py"
cat >"$tmp/frames.py" <<-'END'
	from flopwatch_client import FlopwatchError, Rows
	try:
	    Rows([{}]).frame()
	except FlopwatchError as error:
	    print(error)
END
like "without pandas a data frame is refused" "$(PYTHONPATH=$tmp/none:$tmp/installed "$python" "$tmp/frames.py" 2>&1)" 'needs pandas: .*python3-pandas'
is "the client imports the standard library only" "$(sed -n 's/^\(import\|from\) \([a-z_]*\).*/\2/p' "$root/clients/python/flopwatch_client/__init__.py" |
	"$python" -c 'import sys; print(*[m for m in sys.stdin.read().split() if m not in sys.stdlib_module_names])')" ""
stop_daemon
