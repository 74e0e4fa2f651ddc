#!/bin/sh
# watch.sh one 5433 two 5434: makes the standby the primary once the primary, whichever of the two it is, has not answered three times.
cd /srv/remit || exit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
silent=0
while sleep 1; do
	# PgBouncer leads to the primary.
	grep -q "^remit = .* port=$2\b" pgbouncer.ini || set -- "$3" "$4" "$1" "$2"
	if pg_isready --quiet --host=127.0.0.1 --port="$2" --timeout=1; then
		silent=0
	else
		silent=$((silent + 1))
		[ $silent -lt 3 ] || ./promote.sh "$@"
	fi
done
