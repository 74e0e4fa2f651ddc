// A run that is under way: what it works with, and how it stores what it has done. All that a part of it does, and where it then is, commits
// together, and only while the run is neither ended nor paused and the job is still this worker's.

import { requireOrganization } from '../../../accounts/doors.ts'
import type { Connection, OrganizationSettings, Sync, SyncProgress, SyncRun } from '../../../generated/contract.ts'
import { dayMs } from '../../../platform/base/dates.ts'
import { bySystem, type Origin } from '../../../platform/base/origin.ts'
import type { Database, Transaction } from '../../../platform/db/database.ts'
import type { RecordDoor, RecordDoors } from '../../../platform/db/record-door.ts'
import { type WriteContext, writingIn } from '../../../platform/db/write-context.ts'
import type { Services } from '../../../platform/outside/services.ts'
import type { Job } from '../../../platform/work/jobs.ts'
import { capabilitiesOf, type RecordContext } from '../../connections/records/records.ts'
import { connections } from '../../connections/store.ts'
import { type CompiledField, namesOf, pathsRead } from '../../mappings/engine/engine.ts'
import type { LinkScope } from '../../mappings/link-store.ts'
import { findDefinition } from '../../mappings/store.ts'
import type { InternalObject } from '../../mappings/systems.ts'
import { type Definition, requireSound } from '../../mappings/validate.ts'
import type { Checkpoint, Mappings } from '../checkpoint.ts'
import { sidesOf } from '../rules.ts'
import { changeRun } from '../run-store.ts'

/** A caller ended or paused the run. What was written in the same transaction is undone. */
export class RunStopped extends Error {}

/** The origin of what a run writes. */
export const originOf = ({ id }: Pick<SyncRun, 'id'>, now: number): Origin => ({
	...bySystem(now, 'syncs.run'),
	actor: { type: 'sync', id },
})

/** A mapping as a run uses it. */
export interface Way {
	readonly definition: Definition
	readonly fields: readonly CompiledField[]
	/** What it reads of a record. */
	readonly reads: readonly string[]
	/** The fields of a record that it writes. */
	readonly writes: readonly string[]
	/** The mapping by which all links were last compared, while that is another one. */
	readonly before?: Pick<Way, 'fields' | 'writes'> | undefined
}

/** Of the counts only these rise from record to record. */
export type Tally = { -readonly [Name in Exclude<keyof SyncProgress, 'total'>]: number }

export interface Plan {
	readonly sync: Sync
	readonly connection: Connection
	readonly organization: OrganizationSettings
	readonly kind: InternalObject
	readonly door: RecordDoor
	readonly scope: LinkScope
	/** To Remit; undefined of an outbound sync. */
	readonly pull: Way | undefined
	/** To the provider; undefined of an inbound sync. */
	readonly push: Way | undefined
}

/** Undefined when the connection, or a version of a mapping, is gone. */
export async function planOf(
	db: Database,
	doors: RecordDoors,
	sync: Sync,
	run: SyncRun,
	before?: Mappings,
): Promise<Plan | undefined> {
	const { organizationId, connectionId, direction } = sync
	const connection = await connections.find(db, organizationId, connectionId)
	const now = await waysOf(db, organizationId, mappingsOf(sync, run))
	const past = before && (await waysOf(db, organizationId, before))
	const there = now.there && { ...now.there, before: past?.there }
	const back = now.back && { ...now.back, before: past?.back }
	if (!connection || !there) return undefined
	const { kind, object } = sidesOf(there.definition)
	const organization = await requireOrganization(db, organizationId)
	const ways = direction === 'outbound' ? { pull: undefined, push: there } : { pull: there, push: back }
	return {
		sync,
		connection,
		organization,
		kind,
		door: doors[kind],
		scope: { organizationId, connectionId, object, kind },
		...ways,
	}
}

/** The mappings of a run, each in the version that it had when the run began. */
export const mappingsOf = (
	{ mappingId, reverseMappingId }: Pick<Sync, 'mappingId' | 'reverseMappingId'>,
	{ mappingVersion, reverseMappingVersion }: Pick<SyncRun, 'mappingVersion' | 'reverseMappingVersion'>,
): Mappings => ({ mappingId, mappingVersion, reverseMappingId, reverseMappingVersion })

async function waysOf(db: Database, organizationId: string, mappings: Mappings) {
	const { mappingId, mappingVersion, reverseMappingId, reverseMappingVersion } = mappings
	const there = await wayOf(db, organizationId, mappingId, mappingVersion)
	if (reverseMappingId === null) return { there, back: undefined }
	return { there, back: await wayOf(db, organizationId, reverseMappingId, reverseMappingVersion ?? 0) }
}

async function wayOf(db: Database, organizationId: string, mappingId: string, version: number): Promise<Way | undefined> {
	const definition = await findDefinition(db, { organizationId, mappingId, version })
	if (!definition) return undefined
	const fields = requireSound(definition)
	const writes = [...new Set(fields.map(({ target }) => namesOf(target.slice(0, 1))))]
	return { definition, fields, reads: pathsRead(fields), writes }
}

interface Options {
	readonly db: Database
	readonly services: Services
	readonly job: Job
	readonly plan: Plan
	readonly run: SyncRun
	readonly checkpoint: Checkpoint
	/** For how long the feed of events keeps what happened. */
	readonly keptMs: number
	/** The number of requests that this process has received so far. */
	readonly requests: () => number
	/** Called with the bytes that each part stored. */
	readonly stored: (organizationId: string, bytes: number) => void
	/** When others are to have their turn, by `performance.now()`. */
	readonly until: number
}

export class Session {
	readonly plan: Plan
	readonly job: Job
	readonly #db: Database
	readonly #services: Services
	readonly #keptMs: number
	readonly #stored: Options['stored']
	readonly #requests: Options['requests']
	readonly #until: number
	#seenRequests = 0
	#run: SyncRun
	#checkpoint: Checkpoint

	constructor({ db, services, job, plan, run, checkpoint, keptMs, stored, requests, until }: Options) {
		this.plan = plan
		this.job = job
		this.#db = db
		this.#services = services
		this.#keptMs = keptMs
		this.#stored = stored
		this.#requests = requests
		this.#until = until
		this.#run = run
		this.#checkpoint = checkpoint
	}

	get run(): SyncRun {
		return this.#run
	}

	get checkpoint(): Checkpoint {
		return this.#checkpoint
	}

	get db(): Database {
		return this.#db
	}

	/** For calls to the provider that the run waits for. */
	get calls(): RecordContext {
		return { ...this.callsBeside, lend: (afterMs) => this.job.lend(afterMs) }
	}

	/** For calls beside which the run works. */
	get callsBeside(): RecordContext {
		return { db: this.#db, services: this.#services, now: () => this.job.now, signal: this.job.signal }
	}

	get capabilities() {
		return capabilitiesOf(this.plan.connection, this.plan.scope.object)
	}

	/** Whether others are to have their turn. */
	get isOver(): boolean {
		return performance.now() > this.#until
	}

	/** Of earlier events the feed may have lost some. */
	get feedBeganAt(): number {
		return this.job.now - this.#keptMs + dayMs
	}

	/** How many records the next part may write: fewer while there are requests, which on SQLite wait for it. */
	get chunk(): number {
		const requests = this.#requests()
		const isBusy = requests !== this.#seenRequests
		this.#seenRequests = requests
		return this.#db.dialect === 'postgres' ? 50 : isBusy ? 5 : 25
	}

	get origin(): Origin {
		return originOf(this.#run, this.job.now)
	}

	writing(tx: Transaction, meter?: { bytes: number }) {
		return writingIn(tx, { ...this.origin, ...(meter && { meter }) }, this.plan.organization)
	}

	/** Commits a part of the run: what `work` writes and counts, and where the run then is. */
	commit<T>(
		work: (write: WriteContext & { readonly db: Transaction }, tally: Tally) => Promise<T>,
		next: Partial<Checkpoint>,
		total?: SyncProgress['total'],
	): Promise<T> {
		return this.#commit(async (tx, tally, meter) => work(await this.writing(tx, meter), tally), next, total)
	}

	/** Commits where the run is, and keeps no change of the organization waiting. */
	mark(next: Partial<Checkpoint>): Promise<void> {
		return this.#commit(async () => {}, next)
	}

	async #commit<T>(
		work: (tx: Transaction, tally: Tally, meter: { bytes: number }) => Promise<T>,
		next: Partial<Checkpoint>,
		total = this.#run.progress.total,
	): Promise<T> {
		// A part after which the run is where it was says nothing of what failed there.
		const before: Partial<Checkpoint> = this.#checkpoint
		const hasMoved = Object.entries(next).some(([name, value]) => value !== before[name as keyof Checkpoint])
		const checkpoint = { ...this.#checkpoint, ...(hasMoved && { tries: 0, givenUp: 0 }), ...next }
		let progress = this.#run.progress
		let meter = { bytes: 0 }
		const value = await this.job.part(async (tx) => {
			// The transaction may run twice.
			const tally: Tally & Pick<SyncProgress, 'total'> = { ...this.#run.progress, total }
			meter = { bytes: 0 }
			const value = await work(tx, tally, meter)
			progress = tally
			if (!(await changeRun(tx, this.#run, 'running', this.job.now, { progress, checkpoint }))) throw new RunStopped()
			return value
		})
		this.#stored(this.plan.organization.id, meter.bytes)
		this.#run = { ...this.#run, progress }
		this.#checkpoint = checkpoint
		return value
	}
}
