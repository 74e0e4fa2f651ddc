// Delivers what the queue holds, in this process: takes what is due, fairly across endpoints, attempts it, and writes what
// came of it together with the next taking, in one transaction. Any number of processes may do so on one database.
import type { Logger } from 'pino'
import type { Database, Db } from '../../db/database.ts'
import { eventText } from '../../events/store.ts'
import type { Egress } from '../../outside/egress.ts'
import { deliver, type Outcome } from '../../outside/http.ts'
import type { Secrets } from '../../outside/secrets.ts'
import { signedHeaders } from '../signature.ts'
import { noteHealth } from './endpoint-health.ts'
import { Lanes } from './lanes.ts'
import {
	type ClaimedDelivery,
	claimDeliveries,
	completeDeliveries,
	findTargets,
	releaseDeliveries,
	type Target,
} from './queue-store.ts'
import { type AttemptResult, classify, signalOf } from './results.ts'
import { Signers } from './signers.ts'

export interface EngineOptions {
	readonly db: Database
	readonly egress: Egress
	readonly secrets: Secrets
	readonly now: () => number
	readonly log: Logger
	/** Seconds before each attempt. */
	readonly schedule: readonly number[]
	/** How long an attempt may take. */
	readonly timeoutMs: number
	/** How many requests this process has had. */
	readonly requests: () => number
}

/** Besides a commit of this process, this wakes the engine: for retries, and for what other processes wrote. */
const pollMs = 250
/** Rest from looking lasts no longer, or one look at a database that stood still would stop deliveries for many times as long. */
const longestRestMs = 1_000
/** A lease outlasts an attempt by so much. */
const leaseMarginMs = 15_000
/** On the way out, what is under way gets so long. */
const graceMs = 5_000
/**
 * So many are written, and so many claimed, in one transaction; its commit wakes the engine for the rest. On SQLite all else in
 * this process waits for it: while requests come, fewer, though each then costs more.
 */
const batchSizes = { sqlite: { alone: 32, besideRequests: 12 }, postgres: { alone: 200, besideRequests: 200 } }
/** While more is under way, a batch that is not full waits so long for it: a commit costs as much as some five deliveries. */
const gatherMs = 3

interface Batch {
	readonly target: Target
	readonly deliveries: readonly ClaimedDelivery[]
	readonly leaseEnd: number
}

export class DeliveryEngine {
	readonly #options: EngineOptions
	readonly #lanes = new Lanes()
	readonly #signers: Signers
	readonly #breakOff = new AbortController()
	/** What waits to be written: what ended, and what was broken off. */
	#ended: AttemptResult[] = []
	#brokenOff: string[] = []
	#turn: Promise<void> | undefined
	/** Something happened during the turn. */
	#again = false
	#endGathering: (() => void) | undefined
	/** The most that the turn writes and takes. */
	#batchSize = 0
	#requests = 0
	#stopping = false
	/** Not to look for targets before. */
	#restUntil = 0
	#rested: NodeJS.Timeout | undefined
	/** Which target is the first: a batch may be over before all had their turn. */
	#first = 0
	#stopListening: (() => void) | undefined
	#poll: NodeJS.Timeout | undefined

	constructor(options: EngineOptions) {
		this.#options = options
		this.#signers = new Signers(options.secrets)
	}

	async start(): Promise<void> {
		const { db, now } = this.#options
		// SQLite has one server: whoever held a lease has ended.
		if (db.dialect === 'sqlite') await db.transaction((tx) => releaseDeliveries(tx, now()))
		this.#stopListening = db.onCommit(() => this.#wake())
		this.#poll = setInterval(() => this.#wake(), pollMs).unref()
		this.#wake()
	}

	/** Takes nothing more, lets what is under way finish or breaks it off, and writes what came of it. */
	async stop(): Promise<void> {
		this.#stopping = true
		this.#stopListening?.()
		clearInterval(this.#poll)
		clearTimeout(this.#rested)
		const grace = setTimeout(() => this.#breakOff.abort(), graceMs)
		while (this.#turn || this.#lanes.running > 0) await (this.#turn ?? new Promise((resolve) => setTimeout(resolve, 5)))
		clearTimeout(grace)
		// The database may be gone: then the leases end by themselves.
		await this.#work().catch(() => {})
	}

	#wake(): void {
		this.#again = true
		if (!this.#isGathering()) this.#endGathering?.()
		this.#turn ??= this.#run()
	}

	async #run(): Promise<void> {
		while (this.#again) {
			this.#again = false
			// What ends in one turn of the event loop is written together.
			await new Promise((resolve) => setImmediate(resolve))
			this.#batchSize = this.#chooseBatchSize()
			if (this.#isGathering()) await this.#gathered()
			await this.#work().catch((err) => this.#options.log.error({ err }, 'webhooks: the queue cannot be read or written'))
		}
		this.#turn = undefined
	}

	#chooseBatchSize(): number {
		const { db, requests } = this.#options
		const before = this.#requests
		this.#requests = requests()
		return batchSizes[db.dialect][this.#requests > before ? 'besideRequests' : 'alone']
	}

	/** Once there is a batch, or after `gatherMs`. */
	#gathered(): Promise<void> {
		return new Promise((resolve) => {
			this.#endGathering = resolve
			setTimeout(resolve, gatherMs)
		})
	}

	#isGathering(): boolean {
		const { length } = this.#ended
		return length > 0 && length < this.#batchSize && this.#lanes.running > 0 && !this.#stopping
	}

	async #work(): Promise<void> {
		const { db, now } = this.#options
		const most = this.#stopping ? this.#ended.length : this.#batchSize
		const [ended, brokenOff] = [this.#ended.slice(0, most), this.#brokenOff]
		if (ended.length === 0 && brokenOff.length === 0 && (this.#stopping || !(await this.#isAnythingDue()))) return
		this.#ended = this.#ended.slice(ended.length)
		this.#brokenOff = []
		const results = ended.map(({ result }) => result)
		try {
			await this.#noteHealth(ended)
			const batches = await db.transaction(
				async (tx) => {
					if (brokenOff.length > 0) await releaseDeliveries(tx, now(), brokenOff)
					if (results.length > 0) await completeDeliveries(tx, results)
					return this.#stopping ? [] : this.#claim(tx)
				},
				// What a power cut undoes of it is delivered again.
				{ durable: false },
			)
			for (const batch of batches) for (const claimed of batch.deliveries) this.#begin(batch, claimed)
		} catch (error) {
			this.#ended.push(...ended)
			this.#brokenOff.push(...brokenOff)
			throw error
		}
	}

	/** However many endpoints there are to look at, looking takes at most a tenth of the time, unless one look takes long. */
	async #isAnythingDue(): Promise<boolean> {
		const began = performance.now()
		if (began < this.#restUntil) {
			// Not left to the poll: what a commit tells of is due now.
			this.#rested ??= setTimeout(() => {
				this.#rested = undefined
				this.#wake()
			}, this.#restUntil - began).unref()
			return false
		}
		const targets = this.#withRoom(await findTargets(this.#options.db, this.#options.now()))
		const end = performance.now()
		this.#restUntil = end + Math.min(9 * (end - began), longestRestMs)
		return targets.length > 0
	}

	async #noteHealth(ended: readonly AttemptResult[]): Promise<void> {
		const { db, now } = this.#options
		for (const own of Map.groupBy(ended, ({ target }) => target.endpointId).values()) {
			const { target } = own.at(-1) as AttemptResult
			await noteHealth(db, target, signalOf(own), now())
		}
	}

	/** Each endpoint gets as many as it has room for, and none more than its part of the room there is. */
	async #claim(tx: Db): Promise<Batch[]> {
		const { now, timeoutMs } = this.#options
		const batches: Batch[] = []
		let room = Math.min(this.#lanes.room, this.#batchSize)
		// Those with the least room come first: what they leave of their part is for the others.
		const targets = this.#withRoom(await findTargets(tx, now()))
			.slice(0, room)
			.reverse()
		for (const [index, target] of targets.entries()) {
			const limit = Math.min(this.#lanes.roomOf(target, now()), Math.ceil(room / (targets.length - index)))
			if (limit <= 0) continue
			const { organizationId, endpointId } = target
			const leaseEnd = now() + timeoutMs + leaseMarginMs
			const deliveries = await claimDeliveries(tx, { organizationId, endpointId, now: now(), limit }, leaseEnd)
			room -= deliveries.length
			this.#first++
			batches.push({ target, deliveries, leaseEnd })
		}
		return batches
	}

	/** The endpoints to which something may begin, those with the most room first, and of these each in its turn. */
	#withRoom(targets: readonly Target[]): Target[] {
		const now = this.#options.now()
		const room = (target: Target) => this.#lanes.roomOf(target, now)
		const first = this.#first % Math.max(1, targets.length)
		const inTurn = [...targets.slice(first), ...targets.slice(0, first)]
		return inTurn.filter((target) => room(target) > 0).sort((one, other) => room(other) - room(one))
	}

	#begin({ target, leaseEnd }: Batch, claimed: ClaimedDelivery): void {
		const { egress, now, timeoutMs, schedule } = this.#options
		const startedAt = now()
		const body = eventText(claimed)
		const keys = this.#signers.keysOf(target, startedAt)
		const attempt = { url: target.url, headers: signedHeaders(keys, claimed.eventId, startedAt, body), body }
		this.#lanes.begin(target)
		const end = (outcome: Outcome) => {
			const ended = classify({ target, claimed, leaseEnd, startedAt, endedAt: now(), outcome, schedule })
			this.#lanes.end(target, ended)
			if (outcome.brokenOff) this.#brokenOff.push(claimed.deliveryId)
			else this.#ended.push(ended)
			this.#wake()
		}
		if (keys.length === 0) end(unsigned)
		else deliver(attempt, { egress, timeoutMs, signal: this.#breakOff.signal }).then(end)
	}
}

/** Nothing leaves unsigned. */
const unsigned: Outcome = {
	responseStatus: null,
	responseBody: null,
	retryAfter: undefined,
	error: 'its secret was sealed with a key that the server no longer has: rotate it',
	durationMs: 0,
	brokenOff: false,
}
