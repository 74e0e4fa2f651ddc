create role replicator replication login password 'replicator-password';
create role remit login password 'remit-password';
alter role remit set statement_timeout = '8s';
alter role remit set lock_timeout = '4s';
alter role remit set idle_in_transaction_session_timeout = '8s';
create database remit owner remit;
