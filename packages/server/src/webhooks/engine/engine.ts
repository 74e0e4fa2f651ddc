// The delivery engine of this process. It claims due deliveries, fairly across endpoints, attempts them, and writes their
// results and the next claim in one transaction. Any number of processes may run an engine on one database.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Database, type Db, sent } from '../../db/database.ts'
import type { Egress } from '../../outside/egress.ts'
import { deliver, type Outcome } from '../../outside/http.ts'
import type { Secrets } from '../../outside/secrets.ts'
import type { Traces } from '../../outside/traces/traces.ts'
import { Lanes } from '../../work/lanes.ts'
import { WakingLoop } from '../../work/waking-loop.ts'
import { requestOf } from '../sent-request.ts'
import { countAttempts } from '../stats-store.ts'
import { changedOf, changesNothing, noteHealth, type Signalled } from './endpoint-health.ts'
import { type BodyOf, EventBodies } from './event-bodies.ts'
import { HostFailures } from './host-failures.ts'
import { admitOne, hasPass, noteHosts, reachOf } from './host-proof.ts'
import { lapseHosts, releaseHosts } from './host-store.ts'
import {
	type ClaimedDelivery,
	claimDeliveries,
	completeDeliveries,
	releaseDeliveries,
	releaseEveryDelivery,
} from './queue-store.ts'
import { type AttemptResult, bytesOf, classify, signalOf } from './results.ts'
import { Signers } from './signers.ts'
import { Targets } from './targets.ts'
import type { Target } from './targets-store.ts'

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
	/** Attempts that may begin to one host in a second; 0 for any number. */
	readonly hostRate: number
	/** Called with what an attempt stored. */
	readonly stored: (organizationId: string, bytes: number) => void
	/** Makes a trace of each attempt. */
	readonly traces?: Traces | undefined
	/** Called with what came of an attempt. */
	readonly attempted?: ((outcome: string) => void) | undefined
	/** The number of requests that this process has received so far. */
	readonly requests: () => number
}

/** A commit in this process wakes the engine; the poll finds retries, and deliveries that other processes wrote. */
const pollMs = 250
/** How many times as long as a look-up took the engine rests before the next: it costs more the more endpoints have something that waits. */
const restFactors = { sqlite: 9, postgres: 4 }
/** How much longer a lease is than the time limit of an attempt. With the longest that there may be it stays below `longestLeaseMs`. */
const leaseMarginMs = 15_000
/**
 * Results written, and deliveries claimed, in one transaction; its commit wakes the engine for the rest. On SQLite everything
 * else in this process waits for the transaction, so it is smaller while requests come, though each delivery then costs more.
 */
const batchSizes = { sqlite: { alone: 32, besideRequests: 12 }, postgres: { alone: 200, besideRequests: 200 } }
/** Results for which a turn waits at most: with half of what an organization has under way, PostgreSQL and this process both have work. */
const enoughResults = 50
/** The longest wait for more results while attempts run and the batch is not full: a commit costs as much as five deliveries. */
const gatherMs = 3

/** The lanes of endpoints. */
const laneLimits = {
	slots: 200,
	slotsOf: { untried: 5, works: 25, fails: 2 },
	/** As many as for one organization. */
	slotsPerHost: 100,
	failuresBeforeRest: 10,
	restMs: 100,
} as const

/** Endpoints to remember whose next attempt is a probe. */
const maxUnreached = 10_000

interface Batch {
	readonly target: Target
	readonly deliveries: readonly ClaimedDelivery[]
	readonly leaseEnd: number
}

const eventOf = ({ organizationId, eventId: id }: ClaimedDelivery) => ({ organizationId, id })

interface Claim {
	readonly batches: readonly Batch[]
	readonly bodies: Promise<BodyOf>
}

const signalsOf = (ended: readonly AttemptResult[]): Signalled[] =>
	[...Map.groupBy(ended, ({ target }) => target.endpointId).values()].map((results) => ({
		target: (results.at(-1) as AttemptResult).target,
		signal: signalOf(results),
	}))

const nothing: Claim = { batches: [], bodies: Promise.resolve(() => undefined) }

export class DeliveryEngine {
	readonly #options: EngineOptions
	readonly #lanes: Lanes<Target>
	readonly #loop: WakingLoop
	readonly #signers: Signers
	readonly #targets = new Targets()
	readonly #bodies = new EventBodies()
	readonly #failures = new HostFailures()
	readonly #breakOff = new AbortController()
	/** Results to write, and attempts that were broken off or held back, whose deliveries are to be released. */
	#ended: AttemptResult[] = []
	#unmade: AttemptResult[] = []
	/** Endpoints whose last attempt reached no network where their host is proven, while it has others: the next one is a probe. */
	readonly #unreached = new Set<string>()
	#endGathering: (() => void) | undefined
	/** The most results that the turn writes, and the most deliveries that it claims. */
	#batchSize = 0
	#requests = 0
	#stopping = false
	/** The number of claims so far. It rotates the targets, since the room may be used up before each has had its turn. */
	#claims = 0
	#stopListening: (() => void) | undefined

	constructor(options: EngineOptions) {
		this.#options = options
		this.#lanes = new Lanes(({ endpointId }) => endpointId, { ...laneLimits, hostRate: options.hostRate })
		this.#loop = new WakingLoop(() => this.#turn(), {
			pollMs,
			failed: (err) => options.log.error({ err }, 'webhooks: the queue cannot be read or written'),
		})
		this.#signers = new Signers(options.secrets)
	}

	async start(): Promise<void> {
		const { db } = this.#options
		// Only one server uses a SQLite database: the process that held any lease has ended.
		if (db.dialect === 'sqlite')
			await db.transaction(async (tx) => {
				await releaseEveryDelivery(tx)
				await releaseHosts(tx)
			})
		this.#stopListening = db.onCommit(() => this.#wake())
		this.#loop.start()
	}

	/** Claims nothing more, waits for running attempts, breaks them off after `graceMs`, and writes their results. */
	async stop(graceMs: number): Promise<void> {
		this.#stopping = true
		this.#stopListening?.()
		this.#loop.stop()
		const grace = setTimeout(() => this.#breakOff.abort(), graceMs)
		await this.#loop.idle()
		while (this.#lanes.running > 0) {
			await new Promise((resolve) => setTimeout(resolve, 5))
			await this.#loop.idle()
		}
		clearTimeout(grace)
		// The database may be unreachable: then the leases run out.
		await this.#work().catch(() => {})
	}

	#wake(): void {
		if (!this.#isGathering()) this.#endGathering?.()
		this.#loop.wake()
	}

	async #turn(): Promise<void> {
		// Attempts that end in the same turn of the event loop share one transaction.
		if (!this.#isNextAtOnce()) await nextTurn()
		this.#batchSize = this.#chooseBatchSize()
		if (this.#isGathering()) await this.#gather()
		await this.#work()
	}

	#chooseBatchSize(): number {
		const { db, requests } = this.#options
		const before = this.#requests
		this.#requests = requests()
		return batchSizes[db.dialect][this.#requests > before ? 'besideRequests' : 'alone']
	}

	/** Resolves once the batch is full or nothing more is under way, at the latest after `gatherMs`. */
	#gather(): Promise<void> {
		return new Promise((resolve) => {
			this.#endGathering = resolve
			setTimeout(resolve, gatherMs)
		})
	}

	#isGathering(): boolean {
		return this.#ended.length > 0 && !this.#hasEnough() && this.#lanes.running > 0 && !this.#stopping
	}

	#hasEnough(): boolean {
		return this.#ended.length >= Math.min(this.#batchSize, enoughResults)
	}

	/**
	 * Whether results go to the database before anything else is done: PostgreSQL writes them while this process sends what it has claimed. SQLite
	 * is this process, and lets requests in between.
	 */
	#isNextAtOnce(): boolean {
		return this.#options.db.dialect === 'postgres' && this.#hasEnough()
	}

	async #work(): Promise<void> {
		const { db, now } = this.#options
		const limit = this.#stopping ? this.#ended.length : this.#batchSize
		const [ended, unmade] = [this.#ended.slice(0, limit), this.#unmade]
		if (ended.length === 0 && unmade.length === 0 && (this.#stopping || !(await this.#isAnythingDue()))) return
		this.#ended = this.#ended.slice(ended.length)
		this.#unmade = []
		const results = ended.map(({ result }) => result)
		const lapsed = this.#failures.lapsed(now())
		const signals = signalsOf(ended)
		const late = signals.filter((one) => changesNothing(one, now()))
		const early = signals.filter((one) => !late.includes(one))
		let changed: readonly Signalled[] = []
		try {
			await this.#noteHealth(early)
			const { batches, bodies } = await db.transaction(
				async (tx) => {
					const released = unmade.map(({ result }) => result)
					// Sent together: to PostgreSQL it is one round trip.
					const [found] = await Promise.all([
						changedOf(tx, late, now()),
						releaseDeliveries(tx, released),
						results.length > 0 && completeDeliveries(tx, results),
						lapsed.length > 0 && lapseHosts(tx, lapsed, now()),
						noteHosts(tx, [...ended, ...unmade], now()),
						countAttempts(tx, results),
					])
					changed = found
					return this.#stopping ? nothing : this.#claim(tx, results.length >= enoughResults)
				},
				// A power cut may undo this commit: its deliveries are then made again.
				{ durable: false },
			)
			this.#failures.forget(lapsed)
			for (const result of results) this.#options.stored(result.organizationId, bytesOf(result))
			this.#beginAll(batches, await bodies)
		} catch (error) {
			this.#ended.push(...ended)
			this.#unmade.push(...unmade)
			throw error
		}
		await this.#noteHealth(changed)
	}

	#isAnythingDue(): Promise<boolean> {
		const { db, now } = this.#options
		return this.#loop.look(async () => this.#withRoom(await this.#targets.find(db, now())).length > 0, restFactors[db.dialect])
	}

	async #noteHealth(signals: readonly Signalled[]): Promise<void> {
		const { db, now } = this.#options
		await Promise.all(signals.map((signal) => noteHealth(db, signal, now())))
	}

	/**
	 * Claims for each endpoint what its lane and its host have room for, but no more than an equal share of the remaining room; one
	 * delivery for a host on probation.
	 */
	async #claim(tx: Db, isBusy: boolean): Promise<Claim> {
		const { now } = this.#options
		let room = Math.min(this.#lanes.room, this.#batchSize)
		const planned = new Map<string, number>()
		// The endpoints with the least room come first: the others share what these leave.
		const targets = this.#withRoom(await (isBusy ? this.#targets.findAgain(tx, now()) : this.#targets.find(tx, now())))
			.slice(0, room)
			.reverse()
		const plans = targets.flatMap((target, index) => {
			const { host, provenAt } = target
			const ofHost = planned.get(host) ?? 0
			const share = Math.min(Math.ceil(room / (targets.length - index)), this.#lanes.roomOfHost(host) - ofHost)
			const limit = Math.min(this.#lanes.roomOf(target, now()), share, provenAt === null ? 1 : share)
			if (limit <= 0) return []
			planned.set(host, ofHost + limit)
			room -= limit
			return [{ target, limit }]
		})
		this.#claims += plans.length
		const batches = await Promise.all(plans.map(({ target, limit }) => this.#claimOf(tx, target, limit)))
		const bodies = this.#bodies.of(
			tx,
			batches.flatMap(({ deliveries }) => deliveries.map(eventOf)),
		)
		// The commit goes out behind them.
		await sent(tx, bodies)
		return { batches, bodies }
	}

	async #claimOf(tx: Db, target: Target, limit: number): Promise<Batch> {
		const { now, timeoutMs } = this.#options
		const { organizationId, endpointId, host, provenAt, due: from } = target
		const leaseEnd = now() + timeoutMs + leaseMarginMs
		const isLimited = provenAt === null
		if (isLimited && !(await admitOne(tx, target, now(), leaseEnd))) return { target, deliveries: [], leaseEnd }
		const deliveries = await claimDeliveries(tx, { organizationId, endpointId, now: now(), limit, from }, leaseEnd)
		if (isLimited && deliveries.length === 0 && !hasPass(target)) await releaseHosts(tx, [host])
		return { target, deliveries, leaseEnd }
	}

	/**
	 * The endpoints that have room, those with the most room first; among equals each comes first in turn. Of those of a host on
	 * probation those that have a pass, and the first of the others: the host gets one attempt, which is best made where one has worked.
	 */
	#withRoom(targets: readonly Target[]): Target[] {
		const now = this.#options.now()
		const room = (target: Target) => this.#lanes.roomOf(target, now)
		const start = this.#claims % Math.max(1, targets.length)
		const inTurn = [...targets.slice(start), ...targets.slice(0, start)]
		const sorted = inTurn.filter((target) => room(target) > 0).sort((one, other) => room(other) - room(one))
		const isLimited = (target: Target) => target.provenAt === null && !hasPass(target)
		const first = new Map(
			sorted
				.filter(isLimited)
				.toReversed()
				.map((target) => [target.host, target]),
		)
		return sorted.filter((target) => !isLimited(target) || first.get(target.host) === target)
	}

	#probeNext({ endpointId }: Target): void {
		if (this.#unreached.size >= maxUnreached) this.#unreached.clear()
		this.#unreached.add(endpointId)
	}

	#beginAll(batches: readonly Batch[], bodyOf: BodyOf): void {
		const all = batches.flatMap((batch) =>
			batch.deliveries.flatMap((claimed) => {
				const body = bodyOf(eventOf(claimed))
				// An event stays while a delivery of it waits.
				return body ? [{ batch, claimed, body }] : []
			}),
		)
		for (const { batch } of all) this.#lanes.begin(batch.target)
		const begin = () => {
			for (const { batch, claimed, body } of all) this.#begin(batch, claimed, body)
		}
		if (this.#isNextAtOnce())
			nextTurn()
				.then(begin)
				.catch((err) => this.#options.log.error({ err }, 'webhooks: attempts could not begin'))
		else begin()
	}

	#begin({ target, leaseEnd }: Batch, claimed: ClaimedDelivery, body: Buffer): void {
		const { db, egress, now, timeoutMs, schedule } = this.#options
		const startedAt = now()
		const keys = this.#signers.keysOf(target, startedAt)
		const { eventId } = claimed
		const own = this.#signers.headersOf(target)
		const outOfOrder = Boolean(claimed.outOfOrder)
		const traced = this.#options.traces?.begin('webhooks.attempt', {
			'remit.delivery_id': claimed.deliveryId,
			'server.address': target.host,
		})
		const trace = traced?.headers ?? {}
		const { attempt, stored } = requestOf({ url: target.url, own: own ?? {}, keys, eventId, startedAt, outOfOrder, trace, body })
		const canSend = keys.length > 0 && own !== undefined
		const networks = reachOf(target, db, now, this.#unreached.delete(target.endpointId))
		const end = (outcome: Outcome) => {
			const ended = classify({ target, claimed, leaseEnd, startedAt, endedAt: now(), request: stored, outcome, schedule })
			this.#lanes.end(target, ended)
			if (outcome.unreached) this.#probeNext(target)
			if (outcome.brokenOff || outcome.heldBack) this.#unmade.push(ended)
			else {
				this.#ended.push(ended)
				this.#failures.note(target, ended.failed, ended.result.endedAt)
			}
			traced?.end(outcome.error)
			this.#options.attempted?.(outcome.brokenOff ? 'broken_off' : outcome.heldBack ? 'held_back' : ended.result.status)
			this.#wake()
		}
		if (!canSend) end(unsigned)
		else deliver(attempt, { egress, timeoutMs, signal: this.#breakOff.signal, networks }).then(end)
	}
}

/** The outcome without a key to sign with: the engine sends no unsigned request. */
const unsigned: Outcome = {
	responseStatus: null,
	responseBody: null,
	retryAfter: undefined,
	error: 'its secret or its headers were sealed with a key that the server no longer has: rotate it, or write them again',
	durationMs: 0,
	sent: false,
	brokenOff: false,
	heldBack: false,
	unreached: false,
}
