// A thread that copies SQLite's log (WAL) into the database file while the writer goes on.
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

/** A checkpoint for every 16 MB of log: with its event, a change writes twice the size of its record. */
const checkpointPages = 4_000

const connection = new Sqlite(workerData)

parentPort?.on('message', () => {
	const [{ log, checkpointed }] = connection.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
	if (log - checkpointed < checkpointPages) return
	connection.pragma('wal_checkpoint(PASSIVE)')
	parentPort?.postMessage('moved')
})
