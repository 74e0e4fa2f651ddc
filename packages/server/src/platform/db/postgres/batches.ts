// Short changes of different organizations that wait for a connection share the next one: they run side by side in one transaction, where the
// statements of all take a round trip together. First it takes the turns of their organizations that are free: whoever finds it taken by another
// process is in the next, and then waits by itself. A change that fails before it has written anything leaves the others alone. Otherwise nothing of the
// batch is stored, each begins again by itself, and the organization whose change it was stays out of batches for a while: what
// it does wrong costs the others one attempt. What comes for an organization that has a change in a batch waits here for the next.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Shares } from '../../fair/shares.ts'
import { hasTakenTooLong, isUndone, reasonOf } from './errors.ts'
import { within } from './silence.ts'

/** `Tx` is what a change runs its statements with. */
export type Work<Tx> = (tx: Tx) => Promise<unknown>

export interface Job<Tx> {
	readonly organizationId: string
	readonly work: Work<Tx>
	/** Whether it may be in a batch. */
	readonly isShort: boolean
	readonly resolve: (value: unknown) => void
	readonly reject: (error: unknown) => void
	/** Until when it waits for its turn, however often it begins again. */
	readonly patientUntil: number
	/** How often it has lost a race. */
	losses: number
	/** How long it last was without a connection, once it had given up. */
	pauseMs: number
	/** Whether a batch has passed it over, since another process had its organization's turn. */
	wasPassed: boolean
}

/** What became of a change of a batch that is stored. */
export type End = { readonly value: unknown } | { readonly error: unknown } | 'not begun'

export interface Batch<Tx> {
	/**
	 * Runs changes of different organizations side by side in a transaction. Throws `Undone` when one fails after it has written, with `failed` told
	 * which, and another error when the connection or the commit fails.
	 */
	together(
		jobs: readonly Pick<Job<Tx>, 'organizationId' | 'work'>[],
		failed: (index: number, error: unknown) => void,
	): Promise<End[]>
}

interface Ways<Tx> extends Batch<Tx> {
	/** Runs the work as soon as there is a connection for its owner; rejects when there is none in time. */
	enter(owner: string, work: () => Promise<void>, patienceMs: number): Promise<void>
	/** Runs the changes of an organization that was alone when there was room, and what comes to it meanwhile. */
	runAlone(organizationId: string, jobs: Job<Tx>[]): Promise<void>
	/** Has the changes of an organization wait by themselves for its turn. */
	begin(organizationId: string, jobs: Job<Tx>[]): void
	/** Runs a change by itself that was not stored with its batch. */
	again(job: Job<Tx>): void
	/** Takes a change that has waited here, as one that has just come. */
	add(job: Job<Tx>): void
}

/** All of them wait for the longest. */
const most = 25
/** Batches at once: one works while the other is written to the disk. With more, each would have fewer changes, and all of them cost more. */
const atOnce = 2
/** Changes of a batch that is worthwhile beside any other. */
const enough = 16
/** How long one has its place: a change that is alone may wait for its turn for seconds. */
const placeMs = 50
/** Whose connections batches have: no organization has this id. */
const batchOwner = 'batches'
/** How long a batch waits for as many as are worthwhile: one that runs may be slow. */
const gatherMs = 20
/** Changes of an organization that wait for one of it, each for a batch of its own. More of them are cheaper in a group. */
const mostBehind = 3
/** How long an organization stays out of batches after a change that failed. */
const outMs = 10_000
/** Organizations to remember. */
const maxRemembered = 10_000

type Waiting<Tx> = Map<string, Job<Tx>>

/** The changes of an organization that has one in a batch. */
interface Line<Tx> {
	/** The batch, while it waits for a connection. */
	waitingIn: Waiting<Tx> | undefined
	readonly behind: Job<Tx>[]
}

export class Batches<Tx> {
	readonly #ways: Ways<Tx>
	readonly #room = new Shares({ size: atOnce })
	/** The batch that takes more. */
	#open: Waiting<Tx> | undefined
	/** By organization. */
	readonly #lines = new Map<string, Line<Tx>>()
	/** How many changes each batch has that has a place. */
	readonly #running = new Map<Waiting<Tx>, number>()
	/** Tells the batch that gathers changes that one has come, or that another batch has ended. */
	#wake = () => {}
	/** Until when an organization stays out. */
	readonly #out = new Map<string, number>()

	constructor(ways: Ways<Tx>) {
		this.#ways = ways
	}

	/** Whether the change of an organization would wait for nothing but a connection. */
	takes(organizationId: string): boolean {
		return !this.#lines.has(organizationId) && (this.#out.get(organizationId) ?? 0) <= performance.now()
	}

	/** Takes the change of an organization that has none in here. */
	add(job: Job<Tx>): void {
		const { organizationId, patientUntil } = job
		const open = this.#open && this.#open.size < most ? this.#open : undefined
		const waiting = open ?? new Map()
		waiting.set(organizationId, job)
		this.#lines.set(organizationId, { waitingIn: waiting, behind: [] })
		this.#wake()
		if (open) return
		this.#open = waiting
		this.#enter(waiting, patientUntil)
	}

	/** Has a change wait here behind one of its organization; returns false where a group is better, or there is none. */
	follow(job: Job<Tx>): boolean {
		const line = this.#lines.get(job.organizationId)
		if (!line || (line.waitingIn && (!job.isShort || line.behind.length >= mostBehind))) return false
		line.behind.push(job)
		return true
	}

	/** Gives back the changes of an organization that wait. */
	remove(organizationId: string): Job<Tx>[] {
		const { waitingIn, behind = [] } = this.#lines.get(organizationId) ?? {}
		const job = waitingIn?.get(organizationId)
		if (!job) return []
		waitingIn?.delete(organizationId)
		this.#lines.delete(organizationId)
		return [job, ...behind]
	}

	#enter(waiting: Waiting<Tx>, patientUntil: number): void {
		const patience = () => Math.max(0, patientUntil - performance.now())
		const refuse = (error: unknown) => {
			const jobs = this.#close(waiting)
			const behind = this.#leave(jobs)
			rejectLate(jobs, error)
			for (const job of jobs) this.#ways.again(job)
			for (const job of behind) this.#ways.add(job)
		}
		const run = async () => {
			await this.#gather(waiting)
			const [owner, ...more] = waiting.keys()
			if (owner === undefined) {
				this.#close(waiting)
				return
			}
			const name = more.length === 0 ? owner : batchOwner
			this.#running.set(waiting, waiting.size)
			const ended = this.#ways.enter(name, () => this.#run(this.#close(waiting)), patience()).catch(refuse)
			await atMost(placeMs, ended)
			this.#running.delete(waiting)
			this.#wake()
		}
		// One owner of all would have half of the places.
		const [first] = waiting.keys()
		this.#room.run(first as string, run, patience()).catch(refuse)
	}

	/**
	 * Waits while more come, as those do whose batch has just been answered: the first would take the connection for itself. Beside a
	 * batch that runs, another soon has as many, or is not worth what each costs. Alone none waits.
	 */
	async #gather(waiting: Waiting<Tx>): Promise<void> {
		if (this.#running.size === 0) return
		const until = performance.now() + gatherMs
		while (this.#running.size > 0 && waiting.size < this.#worthwhile()) {
			const leftMs = until - performance.now()
			if (leftMs <= 0) break
			await atMost(leftMs, this.#next())
		}
		let size: number
		do {
			size = waiting.size
			await nextTurn()
			await nextTurn()
		} while (waiting.size > size && waiting.size < most)
	}

	/** How many changes make a batch worthwhile beside those that run. */
	#worthwhile(): number {
		return Math.min(enough, ...this.#running.values())
	}

	/** Resolves when a change comes or a batch ends. */
	#next(): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>()
		this.#wake = resolve
		return promise
	}

	/** Takes nothing more into a batch, and returns its changes. */
	#close(waiting: Waiting<Tx>): Job<Tx>[] {
		if (this.#open === waiting) this.#open = undefined
		const jobs = [...waiting.values()]
		waiting.clear()
		for (const { organizationId } of jobs) (this.#lines.get(organizationId) as Line<Tx>).waitingIn = undefined
		return jobs
	}

	/** Ends the lines behind changes, and returns what waited there. */
	#leave(jobs: readonly Job<Tx>[]): Job<Tx>[] {
		const behind = jobs.flatMap(({ organizationId }) => this.#lines.get(organizationId)?.behind ?? [])
		for (const { organizationId } of jobs) this.#lines.delete(organizationId)
		return behind
	}

	async #run(jobs: readonly Job<Tx>[]): Promise<void> {
		const [first, ...more] = jobs
		if (!first) return
		if (more.length > 0) await this.#runTogether(jobs)
		else await this.#ways.runAlone(first.organizationId, [first, ...this.#leave([first])])
	}

	async #runTogether(jobs: readonly Job<Tx>[]): Promise<void> {
		const failures = new Map<Job<Tx>, unknown>()
		const again: Job<Tx>[] = []
		const passed: Job<Tx>[] = []
		const passedAgain: Job<Tx>[] = []
		try {
			const ends = await this.#ways.together(jobs, (index, error) => failures.set(jobs[index] as Job<Tx>, error))
			for (const [index, job] of jobs.entries()) {
				const end = ends[index] as End
				if (end === 'not begun') (job.wasPassed ? passedAgain : passed).push(job)
				else if ('value' in end) job.resolve(end.value)
				else job.reject(end.error)
			}
		} catch (error) {
			for (const job of failures.keys()) this.#leaveOut(job.organizationId)
			for (const job of jobs) {
				if (!isUndone(error)) job.reject(reasonOf(error))
				else if (hasTakenTooLong(failures.get(job))) job.reject(failures.get(job))
				else again.push(job)
			}
		}
		for (const job of again) this.#ways.again(job)
		for (const job of passedAgain) this.#ways.begin(job.organizationId, [job, ...this.#leave([job])])
		const behind = this.#leave(jobs)
		for (const job of passed) job.wasPassed = true
		for (const job of [...passed, ...behind]) this.#ways.add(job)
	}

	#leaveOut(organizationId: string): void {
		if (this.#out.size >= maxRemembered) this.#out.clear()
		this.#out.set(organizationId, performance.now() + outMs)
	}
}

/** Resolves when the work, which does not fail, ends, and at the latest after a time. */
const atMost = (ms: number, work: Promise<void>): Promise<void> => within(ms, work).catch(() => {})

/** Fails those that have waited for as long as a change does, and leaves the others. */
export function rejectLate<Tx>(waiting: Job<Tx>[], error: unknown): void {
	const now = performance.now()
	for (const job of waiting.splice(0)) {
		if (job.patientUntil > now) waiting.push(job)
		else job.reject(error)
	}
}
