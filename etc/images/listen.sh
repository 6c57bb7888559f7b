#!/bin/sh
# Entry point of the worker's image: one worker for each connection of the daemon to a socket in a volume that only both have. Arguments are
# options of `flopwatch-worker serve`. `--check` is the health check: the socket accepts connections and a device answers.
set -eu
socket=/var/lib/flopwatch-worker/worker.sock
if [ "${1-}" = --check ]; then
	socat -u OPEN:/dev/null "UNIX-CONNECT:$socket" && exec flopwatch-worker probe >/dev/null
	exit 1
fi
exec socat "UNIX-LISTEN:$socket,fork,unlink-early,mode=666,max-children=64" \
	"EXEC:flopwatch-worker serve --cache /var/cache/flopwatch-worker $*"
