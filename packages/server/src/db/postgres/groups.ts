// Changes of one organization share a commit, as on SQLite: those that come while one is under way join its transaction, each under its own
// savepoint, and are answered after the commit. One by one they would wait for each other at the counter of the invoice numbers, which stays
// locked until PostgreSQL has written the commit to its disk.
//
// The first of a group waits for locks as long as a change by itself. The others hold what those before them have locked, so that two
// groups could wait for each other: they soon give up (`next`), and begin again as the first of another group.
import type { Transaction } from '../database.ts'
import { isLockTimeout, isLostRace, tries, Undone } from './errors.ts'

type Work = (tx: Transaction) => Promise<unknown>

interface Job {
	readonly work: Work
	readonly resolve: (value: unknown) => void
	readonly reject: (error: unknown) => void
	/** How often it has lost a race. */
	losses: number
}

/** A transaction of several changes. */
export interface Group {
	/** Runs the first; its failure is that of the transaction. */
	first(work: Work): Promise<unknown>
	/** Runs another one, and undoes it alone if it fails. Throws when the transaction is lost. */
	next(work: Work): Promise<{ readonly value: unknown } | { readonly error: unknown }>
}

interface Places {
	/** Runs the work as soon as there is room for the organization; rejects when there is none in time. */
	enter(organizationId: string, work: () => Promise<void>): Promise<void>
	transact(work: (group: Group) => Promise<void>): Promise<void>
}

/** How long a group takes more: the first of them waits for the last, and what comes behind a slow one does not wait for it. */
const openMs = 20
/** PostgreSQL keeps track of 64 savepoints of a transaction cheaply. */
const most = 50

export class Groups {
	readonly #places: Places
	/** The changes that wait in the group of an organization that takes more. */
	readonly #open = new Map<string, Job[]>()

	constructor(places: Places) {
		this.#places = places
	}

	run<T>(organizationId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			const job = { work, resolve: resolve as Job['resolve'], reject, losses: 0 }
			const open = this.#open.get(organizationId)
			if (open) open.push(job)
			else this.#begin(organizationId, [job])
		})
	}

	#begin(organizationId: string, waiting: Job[]): void {
		if (!this.#open.has(organizationId)) this.#open.set(organizationId, waiting)
		const begun = this.#places.enter(organizationId, () => this.#runTogether(organizationId, waiting))
		begun.catch((error) => {
			this.#close(organizationId, waiting)
			for (const job of waiting) job.reject(error)
		})
	}

	#close(organizationId: string, waiting: Job[]): void {
		if (this.#open.get(organizationId) === waiting) this.#open.delete(organizationId)
	}

	async #runTogether(organizationId: string, waiting: Job[]): Promise<void> {
		const leaveRest = () => {
			this.#close(organizationId, waiting)
			if (waiting.length > 0) this.#begin(organizationId, waiting.splice(0))
		}
		let timer: NodeJS.Timeout | undefined
		const ended: { readonly job: Job; answer(): void }[] = []
		const again: Job[] = []
		let job: Job | undefined
		try {
			await this.#places.transact(async (group) => {
				timer = setTimeout(leaveRest, openMs)
				for (job = waiting.shift(); job; job = waiting.shift()) {
					const { work, resolve, reject } = job
					const end = ended.length === 0 ? { value: await group.first(work) } : await group.next(work)
					if ('value' in end) ended.push({ job, answer: () => resolve(end.value) })
					else if (isLockTimeout(end.error) || mayTryAgain(job, end.error)) again.push(job)
					else ended.push({ job, answer: () => reject(end.error) })
					if (ended.length === most) leaveRest()
				}
				this.#close(organizationId, waiting)
			})
			for (const { answer } of ended) answer()
		} catch (error) {
			// Without a connection.
			if (!job && ended.length === 0) for (const { reject } of waiting.splice(0)) reject(error)
			const lost = [...ended.map(({ job }) => job), ...(job ? [job] : [])]
			// Nothing is stored, through the fault of one of them.
			if (error instanceof Undone && lost.length > 1) again.push(...lost)
			else if (job && ended.length === 0 && mayTryAgain(job, error)) again.push(job)
			else for (const { reject } of lost) reject(error)
		} finally {
			clearTimeout(timer)
			leaveRest()
			for (const lost of again) this.#begin(organizationId, [lost])
		}
	}
}

function mayTryAgain(job: Job, error: unknown): boolean {
	if (!isLostRace(error)) return false
	job.losses++
	return job.losses < tries
}
