#!/bin/sh -e
# ask.sh 5433 'select 1': what the cluster that listens on 5433 says.
exec psql --no-psqlrc --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 --command="$2" \
	"host=127.0.0.1 port=$1 user=postgres dbname=postgres connect_timeout=2"
