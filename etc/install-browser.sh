#!/bin/sh
# Install the browser and modules of the browser tests (Chromium and node from the distribution, modules from npm), the generator of
# an API client in a test, the schemas that forges publish, and the chart library that make embeds. All are optional: missing ones
# are printed, the tests that need them are skipped, exit status 0.
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

# Of these modules a test reads one file, and installed they would take 450 MB: build/npm/forge has only that file. package.json lists
# them as {"FILE": "MODULE@VERSION PATH"}; a changed list fetches all of them again.
mkdir -p build/npm/forge
work=$(mktemp -d) || exit 0
trap 'rm -rf "$work"' EXIT
node -p 'Object.entries(JSON.parse(fs.readFileSync("tests/client/package.json")).unpack).map((one) => one.join(" ")).join("\n")' >"$work/list"
while read -r file module path; do
	[ "build/npm/forge/$file" -nt tests/client/package.json ] && continue
	rm -f "$work"/*.tgz "build/npm/forge/$file"
	timeout 300 npm pack "$module" --pack-destination "$work" --loglevel=error >/dev/null 2>&1 &&
		tar -xzOf "$work"/*.tgz "$path" >"$work/file" && cp "$work/file" "build/npm/forge/$file.new" &&
		mv "build/npm/forge/$file.new" "build/npm/forge/$file" || echo "flopwatch: npm could not fetch $module; requests to forges are not held against their schemas"
done <"$work/list"
