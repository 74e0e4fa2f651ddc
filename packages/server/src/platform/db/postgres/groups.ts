// Changes of one organization share a commit, as on SQLite: those that come while one is under way join its transaction, each under its own
// savepoint, and are answered after the commit. One by one they would wait for each other at the counter of the invoice numbers, which stays
// locked until PostgreSQL has written the commit to its disk.
//
// The first of a group waits for locks as long as a change by itself. The others hold what those before them have locked, so that two
// groups could wait for each other: they soon give up (`next`), and begin again by themselves. So do all of a group that is undone, perhaps
// through the fault of one. An organization whose only change waits for a connection shares it with others (batches.ts).
//
// A process that freezes may have the turns of many organizations for seconds, and a session of a person what rows it likes. Only three of four
// connections wait for locks as long as it takes: the first of a group beyond gives up soon, and gives its connection back for a moment.
import { type Batch, Batches, type Job, rejectLate, type Work } from './batches.ts'
import { isLockTimeout, isLostRace, isUndone, reasonOf, tries, Undone } from './errors.ts'

/** A transaction of several changes. */
export interface Group<Tx> {
	/** Runs the first; its failure is that of the transaction. `waits` is told when it begins to wait for its organization's turn, and when it has it. */
	first(work: Work<Tx>, waits: (isWaiting: boolean) => void): Promise<unknown>
	/** Runs another one, and undoes it alone if it fails. Throws when the transaction is lost. */
	next(work: Work<Tx>): Promise<{ readonly value: unknown } | { readonly error: unknown }>
}

interface Places<Tx> extends Batch<Tx> {
	/** How long a change waits for its turn. */
	readonly patienceMs: number
	/** Runs the work as soon as there is room for the organization; rejects when there is none in time. */
	enter(organizationId: string, work: () => Promise<void>, patienceMs: number): Promise<void>
	/** How many groups may wait for locks as long as it takes. */
	readonly mostWaiting: number
	/** Runs a group, whose first waits for locks as long as a change by itself, or for less. */
	transact(work: (group: Group<Tx>) => Promise<void>, lockMs: number | undefined): Promise<void>
}

/**
 * How long a group takes more: the first of them waits for the last, and what comes behind a slow one does not wait for it. Not counted is how long another
 * process has the organization's turn, which all of them would wait for: in groups of their own they would pay for a turn each.
 */
const openMs = 20
/** How long a group that gave up is without a connection, the first time and at most: each time twice as long. */
const pauseMs = { first: 100, most: 1_000 }
/**
 * How long the first of a group waits for a lock before it gives up: at first for a turn that is soon free, then for a slow commit before it,
 * unless so many have given up that they would have the connections of all others.
 */
const shortLocks = { firstMs: 50, ofPause: 1 / 4, ofAllMs: 1_000 }
/** PostgreSQL keeps track of 64 savepoints of a transaction cheaply. */
const most = 50

export class Groups<Tx> {
	readonly #places: Places<Tx>
	/** The changes that wait in the group of an organization that takes more. */
	readonly #open = new Map<string, Job<Tx>[]>()
	/** How many groups of an organization wait or are under way. */
	readonly #underWay = new Map<string, number>()
	/** How many groups wait for locks as long as it takes, or may: their first has not ended. */
	#patient = 0
	/** How many groups are without a connection, since they gave up. */
	#paused = 0
	readonly #batches: Batches<Tx>

	constructor(places: Places<Tx>) {
		this.#places = places
		this.#batches = new Batches({
			enter: (owner, work, patienceMs) => places.enter(owner, work, patienceMs),
			together: (jobs, failed) => places.together(jobs, failed),
			runAlone: (organizationId, jobs) => this.#runTogether(organizationId, this.#opened(organizationId, jobs)),
			begin: (organizationId, jobs) => this.#begin(organizationId, jobs),
			again: (job) => this.#enter(job.organizationId, [job]),
			add: (job) => this.#add(job),
		})
	}

	run<T>(organizationId: string, work: (tx: Tx) => Promise<T>, isShort = false): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			const patientUntil = performance.now() + this.#places.patienceMs
			this.#add({
				...{ organizationId, work, isShort, resolve: resolve as Job<Tx>['resolve'], reject, patientUntil },
				...{ losses: 0, pauseMs: pauseMs.first / 2, wasPassed: false },
			})
		})
	}

	#add(job: Job<Tx>): void {
		const { organizationId, isShort } = job
		const open = this.#open.get(organizationId)
		if (open) {
			open.push(job)
			return
		}
		if (this.#batches.follow(job)) return
		const waiting = this.#batches.remove(organizationId)
		if (waiting.length === 0 && isShort && !this.#underWay.has(organizationId) && this.#batches.takes(organizationId))
			this.#batches.add(job)
		else this.#begin(organizationId, [...waiting, job])
	}

	/** Begins a group that takes more, unless the organization has one. */
	#begin(organizationId: string, waiting: Job<Tx>[]): void {
		this.#enter(organizationId, this.#opened(organizationId, waiting))
	}

	#opened(organizationId: string, waiting: Job<Tx>[]): Job<Tx>[] {
		if (!this.#open.has(organizationId)) this.#open.set(organizationId, waiting)
		return waiting
	}

	#enter(organizationId: string, waiting: Job<Tx>[]): void {
		const patienceMs = Math.max(0, (waiting[0] as Job<Tx>).patientUntil - performance.now())
		const run = () => this.#runTogether(organizationId, waiting)
		const refuse = (error: unknown) => {
			this.#close(organizationId, waiting)
			rejectLate(waiting, error)
			if (waiting.length > 0) this.#begin(organizationId, waiting)
		}
		this.#count(organizationId, 1)
		const leave = () => this.#count(organizationId, -1)
		this.#places.enter(organizationId, run, patienceMs).catch(refuse).finally(leave)
	}

	/** Has a group whose first gave up, and which still takes more, begin again in a moment. */
	#pause(organizationId: string, waiting: Job<Tx>[], error: unknown): void {
		const first = waiting[0] as Job<Tx>
		first.pauseMs = Math.min(pauseMs.most, first.pauseMs * 2)
		this.#paused++
		const leftMs = Math.max(0, first.patientUntil - performance.now())
		setTimeout(
			() => {
				this.#paused--
				rejectLate(waiting, error)
				if (waiting.length > 0) this.#enter(organizationId, waiting)
				else this.#close(organizationId, waiting)
			},
			Math.min(first.pauseMs, leftMs),
		)
	}

	#shortLockMs(pausedMs: number): number {
		const { firstMs, ofPause, ofAllMs } = shortLocks
		return Math.round(Math.max(firstMs, Math.min(pausedMs * ofPause, ofAllMs / Math.max(1, this.#paused))))
	}

	#close(organizationId: string, waiting: Job<Tx>[]): void {
		if (this.#open.get(organizationId) === waiting) this.#open.delete(organizationId)
	}

	#count(organizationId: string, change: 1 | -1): void {
		const count = (this.#underWay.get(organizationId) ?? 0) + change
		if (count > 0) this.#underWay.set(organizationId, count)
		else this.#underWay.delete(organizationId)
	}

	async #runTogether(organizationId: string, waiting: Job<Tx>[]): Promise<void> {
		const leaveRest = () => {
			this.#close(organizationId, waiting)
			rejectLate(waiting, new Error('timeout exceeded when waiting for the changes before'))
			if (waiting.length > 0) this.#begin(organizationId, waiting.splice(0))
		}
		const lockMs = this.#patient >= this.#places.mostWaiting ? this.#shortLockMs(waiting[0]?.pauseMs ?? 0) : undefined
		let isPatient = lockMs === undefined
		if (isPatient) this.#patient++
		const endPatience = () => {
			if (isPatient) this.#patient--
			isPatient = false
		}
		let hasGivenUp = false
		let timer: NodeJS.Timeout | undefined
		const ended: { readonly job: Job<Tx>; readonly hasFailed: boolean; answer(): void }[] = []
		const again: Job<Tx>[] = []
		let job: Job<Tx> | undefined
		try {
			const closeSoon = () => {
				timer = setTimeout(leaveRest, openMs)
			}
			const waits = (isWaiting: boolean) => {
				clearTimeout(timer)
				if (!isWaiting) closeSoon()
			}
			await this.#places.transact(async (group) => {
				closeSoon()
				for (job = waiting.shift(); job; job = waiting.shift()) {
					const { work, resolve, reject } = job
					// Changes that wait for no answer leave others a turn.
					if (ended.length > 0) await new Promise<void>((turn) => setImmediate(turn))
					const end = ended.length === 0 ? { value: await group.first(work, waits).finally(endPatience) } : await group.next(work)
					if ('value' in end) ended.push({ job, hasFailed: false, answer: () => resolve(end.value) })
					else if (beginsAgain(job, end.error)) again.push(job)
					else ended.push({ job, hasFailed: true, answer: () => reject(end.error) })
					if (ended.length === most) leaveRest()
				}
				this.#close(organizationId, waiting)
			}, lockMs)
			for (const { answer } of ended) answer()
		} catch (error) {
			const begun = [...ended.map(({ job }) => job), ...(job ? [job] : [])]
			const [first] = begun
			// Without a connection.
			if (!first) for (const { reject } of waiting.splice(0)) reject(error)
			else if (lockMs !== undefined && begun.length === 1 && isLockTimeout(reasonOf(error))) {
				hasGivenUp = true
				waiting.unshift(first)
				this.#pause(organizationId, waiting, reasonOf(error))
			} else if (begun.length > 1 && isUndone(error)) again.push(...begun)
			else if (begun.length === 1 && mayTryAgain(first, reasonOf(error))) again.push(first)
			else {
				const reason = reasonOf(error)
				for (const { job, hasFailed, answer } of ended) hasFailed ? answer() : job.reject(reason)
				job?.reject(reason)
			}
		} finally {
			clearTimeout(timer)
			endPatience()
			if (!hasGivenUp) leaveRest()
			for (const lost of again) this.#enter(organizationId, [lost])
		}
	}
}

/** Whether a change that failed in a group may succeed by itself. */
const beginsAgain = <Tx>(job: Job<Tx>, error: unknown) =>
	isLockTimeout(error) || error instanceof Undone || mayTryAgain(job, error)

function mayTryAgain<Tx>(job: Job<Tx>, error: unknown): boolean {
	if (!isLostRace(error)) return false
	job.losses++
	return job.losses < tries
}
