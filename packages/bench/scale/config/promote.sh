#!/bin/sh -e
# promote.sh one 5433 two 5434: ends the primary one, and makes the standby two the primary.
cd /srv/remit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
old=$1 old_port=$2 new=$3 new_port=$4
pg_ctl --pgdata="$old" --mode=immediate stop || true
# Nobody follows it yet.
./wait-for.sh '' "$new_port"
pg_ctl --pgdata="$new" --wait promote
sed -i "s/^remit = .* port=[0-9]*/remit = host=127.0.0.1 port=$new_port/
	s/^remit_read = .* port=[0-9]*/remit_read = host=127.0.0.1 port=$old_port/" pgbouncer.ini
kill -HUP "$(cat pgbouncer.pid)"
