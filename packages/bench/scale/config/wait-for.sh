#!/bin/sh -e
# wait-for.sh two 5433: the primary that listens on 5433 waits for the standby two with each commit. wait-for.sh '' 5433: for none.
psql --quiet --set=ON_ERROR_STOP=1 "host=127.0.0.1 port=$2 user=postgres dbname=postgres" \
	--command="alter system set synchronous_standby_names = '$1'" --command='select pg_reload_conf()' > /dev/null
