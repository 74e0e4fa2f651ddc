#!/bin/sh -e
# promote.sh one 5433 two 5434: ends the primary one for good, and makes the standby two the primary.
cd /srv/remit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
old=$1 old_port=$2 new=$3 new_port=$4
# Nothing ends before it is sure that the standby can take over, and has all that was answered.
if [ "$(cat in-step 2> /dev/null)" != "$new" ]; then
	echo "$new lacks what $old answered without it: ./start.sh $old" >&2
	exit 1
fi
if ! is_standby=$(timeout 3 ./ask.sh "$new_port" 'select pg_is_in_recovery()'); then
	echo "$new does not run: ./start.sh $new, or ./start.sh $old" >&2
	exit 1
fi
./end.sh "$old"
# Started again, it waits for a primary of its own, and takes no write.
touch "$old/standby.signal"
[ "$is_standby" = f ] || pg_ctl --pgdata="$new" --wait promote
# Nobody follows it yet.
./wait-for.sh '' "$new_port"
sed -i "s/^\(remit = .* port=\)[0-9]*/\1$new_port/
	s/^\(remit_read = .* port=\)[0-9]*/\1$old_port/" pgbouncer.ini
kill -HUP "$(cat pgbouncer.pid)"
