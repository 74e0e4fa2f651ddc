// Checkpoints of a SQLite database that is written a lot. Most of one is done in a thread of its own: it is some 30 ms of
// copying and waiting for the disk, for which every request would wait in the server's thread.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'

/** How many commits there are between two looks at the log. */
const commitsBetween = 64

export class Checkpoints {
	readonly #writer: Sqlite.Database
	#commits = 0
	#thread: Worker | undefined
	#hasMoved = false

	constructor(writer: Sqlite.Database) {
		this.#writer = writer
	}

	/** Between two transactions. */
	noteCommit(): void {
		if (this.#hasMoved) this.#finish()
		if (++this.#commits % commitsBetween > 0) return
		this.#thread ??= this.#start()
		this.#thread.postMessage('look')
	}

	async close(): Promise<void> {
		await this.#thread?.terminate()
	}

	/** The little that was written meanwhile: then nothing is left in the log, and it begins again. */
	#finish(): void {
		this.#hasMoved = false
		try {
			this.#writer.pragma('wal_checkpoint(PASSIVE)')
		} catch {
			// A full disk, say: the transaction is in the log, and the next checkpoint tries again.
		}
	}

	#start(): Worker {
		// A `.ts` in the sources, a `.js` in the build.
		const url = new URL(`checkpoint-thread${extname(import.meta.url)}`, import.meta.url)
		const thread = new Worker(url, { workerData: this.#writer.name })
		thread.unref()
		thread.on('message', () => {
			this.#hasMoved = true
		})
		// What this one could not do the next one does, or the writer, when the log is long.
		thread.on('error', () => {})
		thread.on('exit', () => {
			this.#thread = undefined
		})
		return thread
	}
}
