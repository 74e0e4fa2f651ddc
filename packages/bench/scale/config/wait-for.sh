#!/bin/sh -e
# wait-for.sh two 5433: the primary that listens on 5433 waits for the standby two with each commit. wait-for.sh '' 5433: for none.
cd /srv/remit
name=$1 port=$2
follows() {
	for _ in $(seq 60); do
		[ "$(./ask.sh "$port" "select count(*) from pg_stat_replication where application_name = '$name' and $1")" != 1 ] || return 0
		sleep 1
	done
	echo "$name does not follow the primary on $port" >&2
	return 1
}
[ -z "$name" ] || follows "state = 'streaming'"
# The file in-step names the standby that has all that was answered: promote.sh takes no other.
rm -f in-step
./ask.sh "$port" "alter system set synchronous_standby_names = '$name'"
./ask.sh "$port" 'alter system reset default_transaction_read_only'
./ask.sh "$port" 'select pg_reload_conf()' > /dev/null
[ -n "$name" ] || exit 0
# All processes of the primary know it by then. What it answered before, the standby needs too.
sleep 1
./ask.sh "$port" checkpoint
follows "sync_state = 'sync' and flush_lsn >= '$(./ask.sh "$port" 'select pg_current_wal_insert_lsn()')'"
echo "$name" > in-step
