#!/bin/sh -e
# follow.sh two 5434 5433: copies the primary that listens on 5433 into the folder two, as a standby that listens on 5434.
cd /srv/remit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
name=$1 port=$2 primary=$3
./end.sh "$name"
rm -rf "$name"
pg_basebackup --pgdata="$name" --write-recovery-conf --checkpoint=fast \
	--dbname="host=127.0.0.1 port=$primary user=replicator application_name=$name"
echo "port = $port" >> "$name/postgresql.conf"
pg_ctl --pgdata="$name" --log="$name.log" --wait start
# From now on the primary answers no commit before the standby has it on its disk.
./wait-for.sh "$name" "$primary"
