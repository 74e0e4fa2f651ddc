#!/bin/sh -e
# watch.sh one 5433 two 5434: makes the standby two the primary once the primary one has not answered three times.
cd /srv/remit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
silent=0
while [ $silent -lt 3 ]; do
	if pg_isready --quiet --host=127.0.0.1 --port="$2" --timeout=1; then silent=0; else silent=$((silent + 1)); fi
	sleep 1
done
exec ./promote.sh "$@"
