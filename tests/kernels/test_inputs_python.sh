#!/bin/bash
# The inputs of the C code and of tests/support/inputs.py are the same bits: both must give the golden hashes of test_inputs.c,
# and of test_grouped_suite.c for sizes of groups.
cd "$(dirname "$0")/../.." || exit 1
if ! command -v python3 >/dev/null; then
	echo "ok 1 - inputs in Python # SKIP python3 is missing"
	echo "1..1"
	exit 0
fi
n=0 bad=0
while read -r name hash; do
	n=$((n + 1))
	if grep -q "\"$name\", \"$hash\"" tests/model/test_inputs.c tests/families/test_grouped_suite.c; then
		echo "ok $n - $name"
	else
		echo "# Python has $hash; C has $(grep -ho "\"$name\", \"[0-9a-f]*\"" tests/model/test_inputs.c tests/families/test_grouped_suite.c)"
		echo "not ok $n - $name"
		bad=1
	fi
done < <(python3 tests/support/inputs.py hash)
n=$((n + 1))
if [ "$n" = 12 ]; then echo "ok $n - all golden inputs were compared"; else echo "not ok $n - all golden inputs were compared"; bad=1; fi
echo "1..$n"
exit $bad
