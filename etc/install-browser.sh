#!/bin/sh
# Install the browser and modules of the browser tests (Chromium and node from the distribution, modules from npm), the generator of
# an API client in a test, and the chart library that make embeds. All are optional: missing ones are printed, the
# tests that need them are skipped, exit status 0.
set -u
cd "$(dirname "$0")/.." || exit 0

say() { echo "flopwatch: $1; browser tests are skipped, charts stay as the server draws them"; exit 0; }

sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo -n"
has() { command -v "$1" >/dev/null; }
install() { # packages...
	has apt-get || return 1
	echo "installing: $*"
	timeout 300 $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@" >/dev/null 2>&1
}

# The headless Chromium needs a third of the CPU time for the same pages; not every distribution has a package of it.
has chromium-headless-shell || install chromium-headless-shell || has chromium || install chromium || say "could not install chromium"
for program in node npm; do
	has $program || install nodejs npm || say "could not install nodejs and npm"
done
for folder in web tests/browser tests/client; do
	[ "$folder/node_modules/.package-lock.json" -nt "$folder/package.json" ] && continue
	log=$(timeout 300 npm install --prefix "$folder" --no-package-lock --no-audit --no-fund --loglevel=error 2>&1) ||
		say "npm could not install the modules of $folder ($(echo "$log" | grep -m 1 -E 'code|reason|not found' || echo "no answer in 300 s"))"
done
