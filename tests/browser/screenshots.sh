#!/bin/bash
# Every page at 390, 768 and 1280 pixels, light and dark, as PNGs under build/screenshots. Arguments: only pages whose name contains one.
set -eu
cd "$(dirname "$0")/../.."
story=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$story"' EXIT
build/tests/browser/pages_demo "$story" >"$story/log" &
server=$!
for _ in $(seq 100); do grep -q listening "$story/log" && break; sleep 0.1; done
address=$(sed -n 's/^listening on //p' "$story/log")
[ -n "$address" ] || { echo "screenshots: pages_demo did not start" >&2; exit 1; }
node tests/browser/shots.mjs "$address" build/screenshots "$@"
echo "build/screenshots"
