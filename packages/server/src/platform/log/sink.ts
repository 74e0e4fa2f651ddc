// Writes log lines to a file descriptor without ever holding up the event loop. A reader that stopped or is gone, or a full disk,
// costs lines and never requests: lines wait up to a bound, then they are dropped and counted.
import { constants, fstatSync, openSync, write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Lines are written in groups: when this much waits, or this long after the first. */
const groupLength = 32 * 1024
const gatherMs = 50
/** Some 3,000 lines may wait, beside the group that is being written. */
const maxWaiting = 1024 * 1024
/** The pause after a write that failed. It doubles up to the longest. */
const shortestPauseMs = 5
const longestPauseMs = 250
/** How long `close` waits for a slow reader. */
const closeMs = 250

export class LogSink {
	readonly #fd: number
	#waiting: string[] = []
	/** The length of the lines that wait. */
	#length = 0
	/** What is not yet written of the group that is being written. */
	#group: Buffer = Buffer.alloc(0)
	/** The group begins in the middle of a line. */
	#isInLine = false
	#isWriting = false
	#dropped = 0
	#timer: NodeJS.Timeout | undefined
	/** Above 0 while writes fail. */
	#pauseMs = 0
	/** Writes fail for another reason than a slow reader. */
	#isBroken = false

	constructor(fd: number) {
		this.#fd = withoutWaiting(fd)
	}

	/** Takes a line, which ends with a newline. After one is dropped, all are until every line that waits is written. */
	write(line: string): void {
		if (this.#dropped > 0 || this.#length + line.length > maxWaiting) {
			this.#dropped++
			return
		}
		this.#waiting.push(line)
		this.#length += line.length
		if (this.#length >= groupLength && this.#pauseMs === 0) this.flush()
		else this.#flushIn(gatherMs)
	}

	/** Begins to write what waits. */
	flush(): void {
		if (this.#isWriting || !this.#takeGroup()) return
		this.#isWriting = true
		write(this.#fd, this.#group, (error, written) => {
			this.#isWriting = false
			if (error) this.#fail(error.code)
			else this.#advance(written)
		})
	}

	/** Writes what waits, as far as that is possible in a quarter of a second. */
	async close(): Promise<void> {
		this.#isBroken = false
		const deadline = performance.now() + closeMs
		while (this.#hasMore() && !this.#isBroken && performance.now() < deadline) {
			this.flush()
			await sleep(2)
		}
	}

	#hasMore(): boolean {
		return this.#group.length > 0 || this.#length > 0 || this.#dropped > 0
	}

	#flushIn(ms: number): void {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined
			this.flush()
		}, ms).unref()
	}

	/** Whether there is a group to write. */
	#takeGroup(): boolean {
		if (this.#group.length > 0) return true
		if (this.#dropped > 0 && this.#length === 0) {
			this.#waiting.push(droppedLine(this.#dropped))
			this.#dropped = 0
		}
		this.#group = Buffer.from(this.#waiting.join(''))
		this.#waiting = []
		this.#length = 0
		return this.#group.length > 0
	}

	#advance(written: number): void {
		this.#pauseMs = 0
		this.#isBroken = false
		if (written > 0) this.#isInLine = this.#group[written - 1] !== newline
		this.#group = this.#group.subarray(written)
		if (this.#group.length > 0 || this.#dropped > 0 || this.#length >= groupLength) this.flush()
		else if (this.#length > 0) this.#flushIn(gatherMs)
	}

	#fail(code: string | undefined): void {
		this.#isBroken = code !== 'EAGAIN'
		this.#pauseMs = Math.min(Math.max(shortestPauseMs, 2 * this.#pauseMs), longestPauseMs)
		// The next reader of a named pipe begins with a whole line.
		if (code === 'EPIPE' && this.#isInLine) {
			this.#group = this.#group.subarray(this.#group.indexOf(newline) + 1)
			this.#isInLine = false
			this.#dropped++
		}
		this.#flushIn(this.#pauseMs)
	}
}

const newline = 10

const droppedLine = (dropped: number) =>
	`{"level":40,"time":${Date.now()},"dropped":${dropped},"msg":"log lines were dropped while the log could not be written"}\n`

/**
 * A descriptor on which a write never waits for a reader: Node writes in one of four threads, which look-ups and files need too,
 * and a process cannot exit while one of them waits. A pipe or a terminal is opened again, because the setting belongs to the
 * open file, which a shell shares with others. A file needs none: its write fails or succeeds.
 */
function withoutWaiting(fd: number): number {
	if (fstatSync(fd).isFile()) return fd
	try {
		return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
	} catch {
		// A socket, another user's pipe, or not Linux: Node sets it on a pipe or socket itself when it makes the stream.
		void process.stdout.fd
		return fd
	}
}
