#!/bin/sh -e
# start.sh one: starts the cluster in the folder one again.
cd /srv/remit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
pg_ctl --pgdata="$1" --log="$1.log" --wait start
