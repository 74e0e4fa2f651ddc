#!/bin/sh -e
# Creates the primary, in the folder one.
cd /srv/remit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
initdb --pgdata=one --username=postgres --pwfile=password --auth=scram-sha-256 --data-checksums
cat postgresql.conf >> one/postgresql.conf
pg_ctl --pgdata=one --log=one.log --wait start
psql --quiet --set=ON_ERROR_STOP=1 "host=127.0.0.1 port=5433 user=postgres dbname=postgres" --file=roles.sql
