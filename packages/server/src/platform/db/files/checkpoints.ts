// Checkpoints of a SQLite database under many writes. A separate thread does most of the work: some 30 ms of copying and
// waiting for the disk, which would hold up every request if the server's thread did it.
import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'

/** The number of commits after which the thread looks at the size of the log. */
const commitsBetween = 64

/** The log is cut when there was no commit for this long, up to twice. */
const quietMs = 1_000
/** A smaller log stays: it is soon written over from its beginning. */
const keptBytes = 4 * 2 ** 20

export class Checkpoints {
	readonly #writer: Sqlite.Database
	#commits = 0
	#thread: Worker | undefined
	#hasMoved = false
	readonly #quiet: NodeJS.Timeout
	/** The commits at the last look, and at the last cut. */
	#seen = 0
	#cutAt = 0

	constructor(writer: Sqlite.Database) {
		this.#writer = writer
		this.#quiet = setInterval(() => this.#cutWhenQuiet(), quietMs).unref()
	}

	/** Called between two transactions, never inside one. */
	noteCommit(): void {
		if (this.#hasMoved) this.#finish()
		if (++this.#commits % commitsBetween > 0) return
		this.#tell('look')
	}

	async close(): Promise<void> {
		clearInterval(this.#quiet)
		await this.#thread?.terminate()
	}

	#cutWhenQuiet(): void {
		const isQuiet = this.#commits === this.#seen && this.#commits !== this.#cutAt
		this.#seen = this.#commits
		if (!isQuiet) return
		this.#cutAt = this.#commits
		if (this.#logBytes() > keptBytes) this.#tell('quiet')
	}

	#logBytes(): number {
		try {
			return statSync(`${this.#writer.name}-wal`).size
		} catch {
			// There is none, or the disk does not say.
			return 0
		}
	}

	#tell(message: 'look' | 'quiet'): void {
		try {
			this.#thread ??= this.#start()
			this.#thread.postMessage(message)
		} catch {
			// There is no room for a thread: the next message starts one.
		}
	}

	/** Copies the little that was written during the thread's checkpoint, so that SQLite starts the log again at its beginning. */
	#finish(): void {
		this.#hasMoved = false
		try {
			this.#writer.pragma('wal_checkpoint(PASSIVE)')
		} catch {
			// Such as a full disk. The transaction is safe in the log, and the next checkpoint tries again.
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
		// The next thread catches up, or the writer itself once the log is long (wal_autocheckpoint).
		thread.on('error', () => {})
		thread.on('exit', () => {
			this.#thread = undefined
		})
		return thread
	}
}
