// The worker of this process: takes jobs that are due, runs the handler of their kind, and stores what became of each. Any number of
// processes may have a worker on one database. jobs-store.ts says how a job is made due and how its lease works.
import type { Logger } from 'pino'
import type { Database, Transaction } from '../db/database.ts'
import { Lending, type Loan } from '../fair/lending.ts'
import { Shares } from '../fair/shares.ts'
import { backoff } from './backoff.ts'
import { endJob, hastenedTogether, hastenJobs, isAnyJobDue, type Lease, releaseJobs, renewJob, takeJobs } from './jobs-store.ts'
import { longestRest } from './kinds.ts'
import { inParts } from './parts.ts'
import { WakingLoop } from './waking-loop.ts'

/** What a run leaves: when the job is due again, and what the next run is to know. Undefined: the job is done. */
export type Again = { readonly dueAt: number; readonly checkpoint?: string } | undefined

/** Runs a job, which may have run before: a worker that is killed has stored what it committed, but not the job's end. */
export type JobHandler = (job: Job) => Promise<Again>

/** The handlers by kind. A process leaves jobs of other kinds to newer processes. */
export type JobHandlers = Readonly<Record<string, JobHandler>>

export interface WorkerOptions {
	readonly db: Database
	readonly handlers: JobHandlers
	readonly now: () => number
	readonly log: Logger
	readonly leaseMs?: number
}

/** Another worker has the job by now. What this one wrote in the same transaction is undone. */
class LeaseLost extends Error {}

/** How long a worker has a job, from each part that it commits or each sign of life. Then the worker counts as dead. */
export const defaultLeaseMs = 60_000
/** Of a lease: a worker that waits for another server says that it lives. */
const signOfLife = 1 / 3

interface PartOptions {
	/** What a run is to know that goes on after a kill. */
	readonly checkpoint?: string
	readonly durable?: boolean
}

/** A job that is under way. */
export class Job {
	readonly organizationId: string
	readonly resourceId: string
	/** 1 for the first attempt since the last success. */
	readonly attempt: number
	/** Aborted when the server ends, or another worker has the job: the job then returns as soon as it can, with what is left. */
	readonly signal: AbortSignal
	readonly #db: Database
	readonly #now: () => number
	readonly #leaseMs: number
	readonly #lending: Lending
	readonly #lost = new AbortController()
	#lease: Lease
	/** The last part: parts run one after the other. */
	#last: Promise<unknown> = Promise.resolve()
	#renewedAt = performance.now()

	constructor(lease: Lease, { db, now, leaseMs = defaultLeaseMs }: WorkerOptions, lending: Lending, ending: AbortSignal) {
		this.organizationId = lease.organizationId
		this.resourceId = lease.resourceId
		this.attempt = lease.attempt
		this.signal = AbortSignal.any([ending, this.#lost.signal])
		this.#lease = lease
		this.#db = db
		this.#now = now
		this.#leaseMs = leaseMs
		this.#lending = lending
	}

	get now(): number {
		return this.#now()
	}

	get lease(): Lease {
		return this.#lease
	}

	/** What the run before, or the last part, has noted. */
	get checkpoint(): string | null {
		return this.#lease.checkpoint
	}

	/** Runs a part of the job in a transaction, which counts only under the job's lease, and prolongs the lease. */
	part<T>(work: (tx: Transaction) => Promise<T>, options: PartOptions = {}): Promise<T> {
		const part = this.#last.then(() => this.#commit(work, options))
		this.#last = part.catch(() => {})
		return part
	}

	/**
	 * Lends the job's place among those that work to other jobs, after a while, until `back`: for what only waits for another server. One
	 * loan at a time.
	 */
	lend(afterMs: number): Loan {
		return this.#lending.lend(this.organizationId, afterMs)
	}

	/** Resolves when no part is under way. */
	async settled(): Promise<void> {
		await this.#last
	}

	/** Prolongs the lease of a job that has committed nothing for a while; ends the job's signal when another worker has it. */
	async keep(): Promise<void> {
		if (performance.now() - this.#renewedAt < this.#leaseMs * signOfLife) return
		await this.part(async () => {}, { durable: false }).catch((error) => {
			if (error instanceof LeaseLost) this.#lost.abort(error)
		})
	}

	async #commit<T>(work: (tx: Transaction) => Promise<T>, { checkpoint, durable }: PartOptions): Promise<T> {
		const { organizationId } = this
		const leaseUntil = Math.max(this.#now() + this.#leaseMs, this.#lease.leaseUntil + 1)
		const value = await this.#db.transaction(
			async (tx) => {
				const value = await work(tx)
				// Last, because whoever changes a record has its lock first and then that of the job.
				if (!(await renewJob(tx, this.#lease, leaseUntil, checkpoint))) throw new LeaseLost()
				return value
			},
			{ organizationId, durable },
		)
		this.#lease = { ...this.#lease, leaseUntil, checkpoint: checkpoint ?? this.#lease.checkpoint }
		this.#renewedAt = performance.now()
		return value
	}
}

/** Jobs that work at once in a process: who waits for another server lends its place. On SQLite they share the only thread with requests. */
const slots = { sqlite: 4, postgres: 8 }
/** How often a worker looks for jobs that are due: somebody may wait for a run to begin. On PostgreSQL each look is a round trip. */
const pollMs = { sqlite: 100, postgres: 250 }
const maxErrorLength = 500

export class Worker {
	readonly #options: WorkerOptions
	readonly #kinds: readonly string[]
	readonly #running = new Set<Promise<void>>()
	readonly #room: Shares
	readonly #lending: Lending
	readonly #ending = new AbortController()
	readonly #loop: WakingLoop
	/** Looks that failed and that the log does not have yet. */
	#failures = 0

	constructor(options: WorkerOptions) {
		this.#options = options
		this.#kinds = Object.keys(options.handlers)
		this.#room = new Shares({ size: slots[options.db.dialect] })
		this.#lending = new Lending(this.#room, { whenLent: () => this.#loop.wake() })
		this.#loop = new WakingLoop(() => this.#take(), {
			pollMs: pollMs[options.db.dialect],
			failed: (err) => this.#failed(err),
		})
	}

	start(): void {
		this.#loop.start()
	}

	/** Takes nothing more, tells the running jobs to come to an end, and waits for them. */
	async stop(): Promise<void> {
		this.#loop.stop()
		this.#ending.abort()
		await this.#loop.idle()
		await Promise.all(this.#running)
	}

	/** Runs every job that is due, and resolves when they have ended. For tests. */
	async drain(): Promise<void> {
		do {
			await this.turn()
			await Promise.all(this.#running)
		} while (await this.#isAnyLeft())
	}

	/** What the loop has taken meanwhile is due no more, and runs. */
	async #isAnyLeft(): Promise<boolean> {
		const isAnyDue = (await this.isAnyDue()) && !this.#ending.signal.aborted
		await this.#loop.idle()
		return isAnyDue || this.#running.size > 0
	}

	/** Takes what is due and there is room for. */
	async turn(): Promise<void> {
		this.#loop.wake()
		await this.#loop.idle()
	}

	/**
	 * Ends leases that would last for longer than one can, and waits that no job begins: the clock was set back. The worker of such a
	 * lease may be dead.
	 */
	async releaseOverlong(): Promise<void> {
		const { db, now } = this.#options
		await db.transaction((tx) => releaseJobs(tx, now(), now() + 2 * this.#leaseMs), { durable: false })
		const hasten = () => db.transaction((tx) => hastenJobs(tx, now(), longestRest(now())), { durable: false })
		await inParts(async () => (await hasten()) === hastenedTogether, this.#ending.signal)
	}

	get #leaseMs(): number {
		return this.#options.leaseMs ?? defaultLeaseMs
	}

	isAnyDue(): Promise<boolean> {
		const { db, now } = this.#options
		return isAnyJobDue(db, { now: now(), kinds: this.#kinds, without: this.#full() })
	}

	/** The organizations that have no room; what belongs to none always has. */
	#full(): string[] {
		return this.#room.full().filter((organizationId) => organizationId !== '')
	}

	/** One line for all that failed in a second: on a full disk each look does. */
	#failed(err: unknown): void {
		if (this.#failures++ > 0) return
		const report = () => {
			this.#options.log.error({ err, failures: this.#failures }, 'jobs: the table cannot be read or written')
			this.#failures = 0
		}
		setTimeout(report, 1_000).unref()
	}

	async #take(): Promise<void> {
		const { db, now } = this.#options
		if (this.#room.left <= 0 || this.#ending.signal.aborted || !(await this.isAnyDue())) return
		const look = { now: now(), kinds: this.#kinds, without: this.#full() }
		// Half of the room, so that one organization cannot fill it at once. What was left may be less by now.
		const limit = Math.ceil(this.#room.left / 2)
		if (limit <= 0) return
		const release = this.#room.hold(limit)
		let taken: Lease[] = []
		try {
			// A power cut may undo this commit: its jobs are then taken again.
			taken = await db.transaction((tx) => takeJobs(tx, limit, look.now + this.#leaseMs, look), { durable: false })
			for (const lease of taken) this.#begin(lease)
		} finally {
			release()
		}
		if (taken.length === limit) this.#loop.wake()
	}

	#begin(lease: Lease): void {
		const { organizationId } = lease
		this.#room.begin(organizationId)
		const run = this.#run(lease).finally(() => {
			this.#room.leave(organizationId)
			this.#running.delete(run)
			this.#loop.wake()
		})
		this.#running.add(run)
	}

	async #run(lease: Lease): Promise<void> {
		const { db, handlers, now, log } = this.#options
		const job = new Job(lease, this.#options, this.#lending, this.#ending.signal)
		const { organizationId, kind, resourceId } = lease
		const heart = setInterval(() => job.keep(), this.#leaseMs * signOfLife)
		try {
			const again = await (handlers[kind] as JobHandler)(job)
			await job.settled()
			const result = { dueAt: again?.dueAt ?? null, attempt: 0, checkpoint: again?.checkpoint ?? null, lastError: null }
			await db.transaction((tx) => endJob(tx, job.lease, result))
		} catch (err) {
			if (err instanceof LeaseLost) return
			log.warn({ err, organizationId, kind, resourceId, attempt: job.attempt }, 'a job failed; it is tried again')
			const dueAt = now() + backoff(job.attempt)
			const result = { dueAt, attempt: job.attempt, checkpoint: job.checkpoint, lastError: textOf(err) }
			await job.settled()
			// The database may be unreachable: then the lease runs out.
			await db.transaction((tx) => endJob(tx, job.lease, result)).catch(() => {})
		} finally {
			clearInterval(heart)
		}
	}
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, maxErrorLength)
