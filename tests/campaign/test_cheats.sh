#!/bin/bash
# Reliability campaign, part 10: modules that make time look smaller or results right, and honest odd ones (cheats.py).
# Attacks: daemon/worker daemon/runner daemon/verdict daemon/families daemon/protocol
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"
cp "$tmp/suite.yaml" "$tmp/calls.yaml"
sed -i 's/^seed:/decide: call\nseed:/' "$tmp/calls.yaml"
ok "no cheat gains, and no honest module is rejected" python3 "$root/tests/campaign/cheats.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
