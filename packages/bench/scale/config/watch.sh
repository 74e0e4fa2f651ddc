#!/bin/sh
# watch.sh one 5433 two 5434: makes the standby the primary once the primary, whichever of the two it is, has not answered three times. While
# the standby is gone it has the primary refuse writes: each would wait, and keep a connection, until none is left to read with.
cd /srv/remit || exit
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH
refuse_writes() {
	./ask.sh "$1" "alter system set default_transaction_read_only = $2" && ./ask.sh "$1" 'select pg_reload_conf()' > /dev/null
}
silent=0 alone=0
while sleep 1; do
	# PgBouncer leads to the primary.
	grep -q "^remit = .* port=$2\b" pgbouncer.ini || set -- "$3" "$4" "$1" "$2"
	if pg_isready --quiet --host=127.0.0.1 --port="$2" --timeout=1; then
		silent=0
		case $(timeout 3 ./ask.sh "$2" "select exists (select from pg_stat_activity where wait_event = 'SyncRep'
			and state_change < now() - interval '3 s'), current_setting('default_transaction_read_only')") in
		"t|off")
			alone=$((alone + 1))
			if [ $alone -ge 2 ]; then
				alone=0
				echo "the standby $3 is gone or hangs, so $1 takes no writes: ./start.sh $3, or ./wait-for.sh '' $2" >&2
				refuse_writes "$2" on
			fi
			;;
		"f|on") refuse_writes "$2" off ;;
		*) alone=0 ;;
		esac
	else
		silent=$((silent + 1))
		[ $silent -lt 3 ] || ./promote.sh "$@"
	fi
done
