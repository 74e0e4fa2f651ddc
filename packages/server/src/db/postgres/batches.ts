// Short changes of different organizations that wait for a connection share the next one: they run side by side in one transaction, where the
// statements of all take a round trip together. First it takes the turns of their organizations that are free: whoever finds it taken by another
// process is in the next, and then waits by itself. A change that fails before it has written anything leaves the others alone. Otherwise nothing of the
// batch is stored, each begins again by itself, and the organization whose change it was stays out of batches for a while: what
// it does wrong costs the others one attempt.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Shares } from '../../base/shares.ts'
import { hasTakenTooLong, isUndone, reasonOf } from './errors.ts'

/** `Tx` is what a change runs its statements with. */
export type Work<Tx> = (tx: Tx) => Promise<unknown>

export interface Job<Tx> {
	readonly organizationId: string
	readonly work: Work<Tx>
	readonly resolve: (value: unknown) => void
	readonly reject: (error: unknown) => void
	/** Until when it waits for its turn, however often it begins again. */
	readonly patientUntil: number
	/** How often it has lost a race. */
	losses: number
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
	/** Runs the work as soon as there is room for a batch; rejects when there is none in time. */
	enter(work: () => Promise<void>, patienceMs: number): Promise<void>
	/** Runs a change that was alone when there was room, and what comes to its organization meanwhile. */
	runAlone(job: Job<Tx>): Promise<void>
	/** Runs a change by itself that was not stored with its batch. */
	again(job: Job<Tx>): void
	/** Takes a change for the next batch, or for the group that its organization has by now. */
	passed(job: Job<Tx>): void
}

/** All of them wait for the longest. */
const most = 25
/** Batches at once: one works while the other is written to the disk. With more, each would have fewer changes, and all of them cost more. */
const atOnce = 2
/** How long an organization stays out of batches after a change that failed. */
const outMs = 10_000
/** Organizations to remember. */
const maxRemembered = 10_000

type Waiting<Tx> = Map<string, Job<Tx>>

export class Batches<Tx> {
	readonly #ways: Ways<Tx>
	readonly #room = new Shares({ size: atOnce })
	/** The batch that takes more. */
	#open: Waiting<Tx> | undefined
	/** The batch in which the change of an organization waits for a connection. */
	readonly #waitingIn = new Map<string, Waiting<Tx>>()
	/** The organizations whose changes run, in a batch or alone when there was room for one. */
	readonly #underWay = new Set<string>()
	/** Until when an organization stays out. */
	readonly #out = new Map<string, number>()

	constructor(ways: Ways<Tx>) {
		this.#ways = ways
	}

	/** Whether the change of an organization would wait for nothing but a connection. */
	takes(organizationId: string): boolean {
		return !this.#underWay.has(organizationId) && (this.#out.get(organizationId) ?? 0) <= performance.now()
	}

	/** Takes the change of an organization that has none in here. */
	add(job: Job<Tx>): void {
		const { organizationId, patientUntil } = job
		const open = this.#open && this.#open.size < most ? this.#open : undefined
		const waiting = open ?? new Map()
		waiting.set(organizationId, job)
		this.#waitingIn.set(organizationId, waiting)
		if (open) return
		this.#open = waiting
		this.#enter(waiting, patientUntil)
	}

	/** Gives the change back that waits for an organization. */
	remove(organizationId: string): Job<Tx> | undefined {
		const waiting = this.#waitingIn.get(organizationId)
		const job = waiting?.get(organizationId)
		waiting?.delete(organizationId)
		this.#waitingIn.delete(organizationId)
		return job
	}

	#enter(waiting: Waiting<Tx>, patientUntil: number): void {
		const patience = () => Math.max(0, patientUntil - performance.now())
		const run = async () => {
			await this.#gather(waiting)
			return this.#run(this.#close(waiting))
		}
		const [owner] = waiting.keys()
		this.#room
			.run(owner as string, () => this.#ways.enter(run, patience()), patience())
			.catch((error) => {
				const jobs = this.#close(waiting)
				rejectLate(jobs, error)
				for (const job of jobs) this.#ways.again(job)
			})
	}

	/** Waits while more come, as those do whose batch has just been answered: the first would take the connection for itself. Alone none waits. */
	async #gather(waiting: Waiting<Tx>): Promise<void> {
		if (this.#underWay.size === 0) return
		let size: number
		do {
			size = waiting.size
			await nextTurn()
			await nextTurn()
		} while (waiting.size > size && waiting.size < most)
	}

	/** Takes nothing more into a batch, and returns its changes. */
	#close(waiting: Waiting<Tx>): Job<Tx>[] {
		if (this.#open === waiting) this.#open = undefined
		for (const organizationId of waiting.keys()) this.#waitingIn.delete(organizationId)
		const jobs = [...waiting.values()]
		waiting.clear()
		return jobs
	}

	async #run(jobs: readonly Job<Tx>[]): Promise<void> {
		const [first, ...more] = jobs
		if (!first) return
		const failures = new Map<Job<Tx>, unknown>()
		for (const { organizationId } of jobs) this.#underWay.add(organizationId)
		const again: Job<Tx>[] = []
		const passed: Job<Tx>[] = []
		try {
			if (more.length === 0) return await this.#ways.runAlone(first)
			const ends = await this.#ways.together(jobs, (index, error) => failures.set(jobs[index] as Job<Tx>, error))
			for (const [index, job] of jobs.entries()) {
				const end = ends[index] as End
				if (end === 'not begun') (job.wasPassed ? again : passed).push(job)
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
		} finally {
			for (const { organizationId } of jobs) this.#underWay.delete(organizationId)
			for (const job of again) this.#ways.again(job)
			for (const job of passed) {
				job.wasPassed = true
				this.#ways.passed(job)
			}
		}
	}

	#leaveOut(organizationId: string): void {
		if (this.#out.size >= maxRemembered) this.#out.clear()
		this.#out.set(organizationId, performance.now() + outMs)
	}
}

/** Fails those that have waited for as long as a change does, and leaves the others. */
export function rejectLate<Tx>(waiting: Job<Tx>[], error: unknown): void {
	const now = performance.now()
	for (const job of waiting.splice(0)) {
		if (job.patientUntil > now) waiting.push(job)
		else job.reject(error)
	}
}
