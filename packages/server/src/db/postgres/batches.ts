// Short changes of different organizations that wait for a connection share the next one: they run side by side in one transaction, where the
// statements of all take a round trip together. It is stored as a whole or not at all. When one fails, each begins again by itself,
// and the organization whose change it was stays out of batches for a while: what it does wrong costs the others one attempt.
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
}

export interface Batch<Tx> {
	/**
	 * Runs changes of different organizations side by side in a transaction. Throws `Undone` when one fails, after `failed` was told
	 * which, and another error when the connection or the commit fails.
	 */
	together(works: readonly Work<Tx>[], failed: (index: number, error: unknown) => void): Promise<readonly unknown[]>
}

interface Ways<Tx> extends Batch<Tx> {
	/** Runs the work as soon as there is room for a batch; rejects when there is none in time. */
	enter(work: () => Promise<void>, patienceMs: number): Promise<void>
	/** Runs a change that was alone when there was room, and what comes to its organization meanwhile. */
	runAlone(job: Job<Tx>): Promise<void>
	/** Runs a change of a batch that was undone. */
	again(job: Job<Tx>): void
}

/** All of them wait for the longest. */
const most = 25
/** How long an organization stays out of batches after a change that failed. */
const outMs = 10_000
/** Organizations to remember. */
const maxRemembered = 10_000

export class Batches<Tx> {
	readonly #ways: Ways<Tx>
	/** The changes of the batch that waits for a connection, by organization; undefined when none does. */
	#waiting: Map<string, Job<Tx>> | undefined
	/** The organizations of batches that run. */
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
		const waiting = this.#waiting
		if (waiting && waiting.size < most) waiting.set(job.organizationId, job)
		else {
			this.#waiting = new Map([[job.organizationId, job]])
			this.#enter(this.#waiting, job.patientUntil)
		}
	}

	/** Gives the change back that waits for an organization. */
	remove(organizationId: string): Job<Tx> | undefined {
		const job = this.#waiting?.get(organizationId)
		this.#waiting?.delete(organizationId)
		return job
	}

	#enter(waiting: Map<string, Job<Tx>>, patientUntil: number): void {
		const patienceMs = Math.max(0, patientUntil - performance.now())
		this.#ways
			.enter(() => this.#run(waiting), patienceMs)
			.catch((error) => {
				this.#close(waiting)
				const now = performance.now()
				for (const job of waiting.values()) {
					if (job.patientUntil > now) this.#ways.again(job)
					else job.reject(error)
				}
			})
	}

	/** Takes nothing more into a batch. */
	#close(waiting: Map<string, Job<Tx>>): void {
		if (this.#waiting === waiting) this.#waiting = undefined
	}

	async #run(waiting: Map<string, Job<Tx>>): Promise<void> {
		this.#close(waiting)
		// In the same order everywhere, so that no two batches wait for each other.
		const jobs = [...waiting.values()].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1))
		const [first] = jobs
		if (!first) return
		if (jobs.length === 1) return this.#ways.runAlone(first)
		const failures = new Map<Job<Tx>, unknown>()
		for (const { organizationId } of jobs) this.#underWay.add(organizationId)
		try {
			const values = await this.#ways.together(
				jobs.map(({ work }) => work),
				(index, error) => failures.set(jobs[index] as Job<Tx>, error),
			)
			for (const [index, { resolve }] of jobs.entries()) resolve(values[index])
		} catch (error) {
			for (const job of failures.keys()) this.#leaveOut(job.organizationId)
			for (const job of jobs) {
				if (!isUndone(error)) job.reject(reasonOf(error))
				else if (hasTakenTooLong(failures.get(job))) job.reject(failures.get(job))
				else this.#ways.again(job)
			}
		} finally {
			for (const { organizationId } of jobs) this.#underWay.delete(organizationId)
		}
	}

	#leaveOut(organizationId: string): void {
		if (this.#out.size >= maxRemembered) this.#out.clear()
		this.#out.set(organizationId, performance.now() + outMs)
	}
}
