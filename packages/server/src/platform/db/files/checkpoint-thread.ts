// A thread that copies SQLite's log (WAL) into the database file while the writer goes on, and cuts the log at quiet times.
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

/** A checkpoint for every 16 MB of log: with its event, a change writes twice the size of its record. */
const checkpointPages = 4_000

const connection = new Sqlite(workerData)
// The writer waits for a cut, as for any other process that writes; the thread does not wait for the writer.
connection.pragma('busy_timeout = 0')

parentPort?.on('message', (message: 'look' | 'quiet') => (message === 'quiet' ? cut() : copy()))

function copy(): void {
	const [{ log, checkpointed }] = connection.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
	if (log - checkpointed < checkpointPages) return
	connection.pragma('wal_checkpoint(PASSIVE)')
	parentPort?.postMessage('moved')
}

/** Copies everything without a lock, so that the lock for the cut is held for a moment only. */
function cut(): void {
	connection.pragma('wal_checkpoint(PASSIVE)')
	connection.pragma('wal_checkpoint(TRUNCATE)')
}
