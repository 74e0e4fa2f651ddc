// The thread that moves what the log of a SQLite database holds into its file, beside the writer.
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

/** 16 MB of log between checkpoints: events make every write twice as long as its record. */
const mostPages = 4_000

const connection = new Sqlite(workerData)

parentPort?.on('message', () => {
	const [{ log, checkpointed }] = connection.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
	if (log - checkpointed < mostPages) return
	connection.pragma('wal_checkpoint(PASSIVE)')
	parentPort?.postMessage('moved')
})
