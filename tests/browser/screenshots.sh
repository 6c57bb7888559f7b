#!/bin/bash
# Every page of a checkout at 390, 768 and 1280 pixels, light and dark, as PNGs under build/screenshots. Arguments: only pages whose
# name contains one. OF=FOLDER: of that checkout, as this one's list of pages has them, under build/screenshots-of, and both side by side.
set -eu
cd "$(dirname "$0")/../.."
checkout=${OF:-.} folder=build/screenshots${OF:+-of}
story=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$story"' EXIT
(cd "$checkout" && exec build/tests/browser/pages_demo "$story") >"$story/log" &
server=$!
for _ in $(seq 100); do grep -q listening "$story/log" && break; sleep 0.1; done
address=$(sed -n 's/^listening on //p' "$story/log")
[ -n "$address" ] || { echo "screenshots: pages_demo of $checkout did not start; build it there: make build/tests/browser/pages_demo" >&2; exit 1; }
node tests/browser/shots.mjs "$address" "$folder" "$@"
echo "$folder"
[ -z "${OF:-}" ] || node tests/browser/pairs.mjs "$folder" build/screenshots build/screenshots-pairs.html "$@"
