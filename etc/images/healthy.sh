#!/bin/sh
# Health check of the daemon's image: the REST API answers from the database. FLOPWATCH_SERVER and FLOPWATCH_CA_FILE apply to another port or TLS.
set -eu
token=/var/lib/flopwatch/admin.token
[ ! -s "$token" ] || set -- --token-file "$token"
exec flopwatch "$@" --quiet devices >/dev/null
