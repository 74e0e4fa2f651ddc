// The delivery engine of this process. It claims due deliveries, attempts them, and writes their results: on SQLite in the transaction of the
// next claim, since a commit costs as much as five deliveries; on PostgreSQL in one beside it, so that neither waits for the other. Any
// number of processes may run an engine on one database.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Database, type Db, sent } from '../../../platform/db/database.ts'
import type { Egress } from '../../../platform/outside/egress.ts'
import { deliver, type Outcome } from '../../../platform/outside/http.ts'
import type { Secrets } from '../../../platform/outside/secrets.ts'
import type { Traces } from '../../../platform/outside/traces/traces.ts'
import { Lanes } from '../../../platform/work/lanes.ts'
import { WakingLoop } from '../../../platform/work/waking-loop.ts'
import { releaseHosts } from '../probation-store.ts'
import { requestOf } from '../sent-request.ts'
import { countAttempts } from '../stats-store.ts'
import type { Target } from './claim-store.ts'
import { type Claimed, Claims } from './claims.ts'
import { changedOf, changesNothing, noteHealth, type Signalled } from './endpoint-health.ts'
import { HostFailures, noteHosts, reachOf } from './host-proof.ts'
import { lapseHosts } from './host-store.ts'
import { completeDeliveries, releaseDeliveries, releaseEveryDelivery } from './queue-store.ts'
import { type AttemptResult, bytesOf, classify, signalOf } from './results.ts'
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
 * Results that one transaction writes, and deliveries that one claims; its commit wakes the engine for the rest. On SQLite everything
 * else in this process waits for the transaction, so it is smaller while requests come, though each delivery then costs more.
 */
const batchSizes = { sqlite: { alone: 32, besideRequests: 12 }, postgres: { alone: 200, besideRequests: 200 } }
/**
 * Attempts that end, for which a transaction waits at most, if they are as many as those that are still under way or more: PostgreSQL and this process
 * then both have work.
 */
const enough = 50
/** The longest wait for more of them. */
const gatherMs = { sqlite: 3, postgres: 6 }

/** The lanes of endpoints. */
const laneLimits = {
	slots: 200,
	slotsOf: { untried: 5, works: 25, fails: 2 },
	silentMs: 2_000,
	/** As many as for one organization. */
	slotsPerHost: 100,
	failuresBeforeRest: 10,
	restMs: 100,
} as const

/** Results that wait to be written before nothing more is claimed: a batch under way, and as many attempts again as may run at once. */
const mostUnwritten = 2 * laneLimits.slots

/** Endpoints to remember whose next attempt is a probe. */
const maxUnreached = 10_000

const signalsOf = (ended: readonly AttemptResult[]): Signalled[] =>
	[...Map.groupBy(ended, ({ target }) => target.endpointId).values()].map((results) => ({
		target: (results.at(-1) as AttemptResult).target,
		signal: signalOf(results),
	}))

type Claim = Awaited<ReturnType<Claims['make']>>
const nothing: Claim = { claimed: Promise.resolve([]) }
const noClaim = async () => nothing

export class DeliveryEngine {
	readonly #options: EngineOptions
	readonly #lanes: Lanes<Target>
	readonly #claims: Claims
	/** On SQLite one loop does both. */
	readonly #writing: WakingLoop
	readonly #claiming: WakingLoop
	readonly #loops: ReadonlySet<WakingLoop>
	readonly #signers: Signers
	readonly #failures = new HostFailures()
	readonly #breakOff = new AbortController()
	/** Results to write, those that are being written, and attempts that were broken off or held back, whose deliveries are to be released. */
	#ended: AttemptResult[] = []
	#beingWritten: readonly AttemptResult[] = []
	#unmade: AttemptResult[] = []
	/** On PostgreSQL: attempts that have ended since the last claim. */
	#freed = 0
	/** Endpoints whose last attempt reached no network where their host is proven, while it has others: the next one is a probe. */
	readonly #unreached = new Set<string>()
	readonly #gatherings = new Set<{ readonly isOver: () => boolean; readonly end: () => void }>()
	/** The most results that the turn writes, and the most deliveries that it claims. */
	#batchSize = enough
	#requests = 0
	#stopping = false
	#stopListening: (() => void) | undefined

	constructor(options: EngineOptions) {
		this.#options = options
		const { db, now, timeoutMs, hostRate } = options
		this.#lanes = new Lanes(({ endpointId }) => endpointId, { ...laneLimits, hostRate })
		this.#claims = new Claims({ db, now, lanes: this.#lanes, leaseMs: timeoutMs + leaseMarginMs })
		const failed = (err: unknown) => options.log.error({ err }, 'webhooks: the queue cannot be read or written')
		this.#writing = new WakingLoop(() => this.#write(), { pollMs, failed })
		this.#claiming = db.dialect === 'sqlite' ? this.#writing : new WakingLoop(() => this.#claim(), { pollMs, failed })
		this.#loops = new Set([this.#writing, this.#claiming])
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
		this.#stopListening = db.onCommit(() => this.#wake(...this.#loops))
		for (const loop of this.#loops) loop.start()
	}

	async #idle(): Promise<void> {
		for (const loop of this.#loops) await loop.idle()
	}

	/** Claims nothing more, waits for running attempts, breaks them off after `graceMs`, and writes their results. */
	async stop(graceMs: number): Promise<void> {
		this.#stopping = true
		this.#stopListening?.()
		for (const loop of this.#loops) loop.stop()
		const grace = setTimeout(() => this.#breakOff.abort(), graceMs)
		await this.#idle()
		while (this.#lanes.running > 0) {
			await new Promise((resolve) => setTimeout(resolve, 5))
			await this.#idle()
		}
		clearTimeout(grace)
		// The last ones may have ended while the claims were waited for.
		await this.#writing.idle()
		// The database may be unreachable: then the leases run out.
		await this.#work(noClaim).catch(() => {})
	}

	#wake(...loops: readonly WakingLoop[]): void {
		for (const { isOver, end } of this.#gatherings) if (isOver()) end()
		for (const loop of loops) loop.wake()
	}

	/** Resolves when it is over, at the latest after `gatherMs`. */
	async #gather(isOver: () => boolean): Promise<void> {
		if (isOver()) return
		await new Promise<void>((resolve) => {
			const gathering = {
				isOver,
				end: () => {
					this.#gatherings.delete(gathering)
					resolve()
				},
			}
			this.#gatherings.add(gathering)
			setTimeout(gathering.end, gatherMs[this.#options.db.dialect])
		})
	}

	/** Whether to wait for more than these attempts that have ended. */
	#isTooFew(count: number): boolean {
		const { running } = this.#lanes
		const most = Math.min(this.#batchSize, Math.max(enough, (running + count) / 2))
		return count > 0 && count < most && running > 0 && !this.#stopping
	}

	async #write(): Promise<void> {
		const { db, now } = this.#options
		// Attempts that end in the same turn of the event loop share one transaction.
		await nextTurn()
		this.#batchSize = this.#chooseBatchSize()
		await this.#gather(() => !this.#isTooFew(this.#ended.length))
		await this.#work(db.dialect === 'sqlite' ? (tx) => this.#claims.make(tx, { most: this.#batchSize, at: now() }) : noClaim)
	}

	#chooseBatchSize(): number {
		const { db, requests } = this.#options
		const before = this.#requests
		this.#requests = requests()
		return batchSizes[db.dialect][this.#requests > before ? 'besideRequests' : 'alone']
	}

	async #work(claim: (tx: Db) => Promise<Claim>): Promise<void> {
		const { db, now } = this.#options
		const limit = this.#stopping ? this.#ended.length : this.#batchSize
		const [ended, unmade] = [this.#ended.slice(0, limit), this.#unmade]
		if (ended.length === 0 && unmade.length === 0 && (claim === noClaim || this.#stopping || !(await this.#isAnythingDue())))
			return
		this.#ended = this.#ended.slice(ended.length)
		this.#beingWritten = ended
		this.#unmade = []
		const results = ended.map(({ result }) => result)
		const lapsed = this.#failures.lapsed(now())
		const signals = signalsOf(ended)
		const late = signals.filter((one) => changesNothing(one, now()))
		const early = signals.filter((one) => !late.includes(one))
		let changed: Promise<readonly Signalled[]> = Promise.resolve([])
		try {
			await this.#noteHealth(early)
			const { claimed } = await db.transaction(
				async (tx) => {
					const released = unmade.map(({ result }) => result)
					changed = changedOf(tx, late, now())
					// PostgreSQL has all of it before it answers anything, and the commit goes out behind.
					await Promise.all([
						sent(tx, changed),
						sent(tx, releaseDeliveries(tx, released)),
						completeDeliveries(tx, results),
						lapsed.length > 0 && lapseHosts(tx, lapsed, now()),
						noteHosts(tx, [...ended, ...unmade], now()),
						sent(tx, countAttempts(tx, results)),
					])
					return this.#stopping ? nothing : claim(tx)
				},
				// A power cut may undo this commit: its deliveries are then made again.
				{ durable: false },
			)
			this.#failures.forget(lapsed)
			for (const result of results) this.#options.stored(result.organizationId, bytesOf(result))
			this.#begin(await claimed)
		} catch (error) {
			this.#ended.push(...ended)
			this.#unmade.push(...unmade)
			throw error
		} finally {
			this.#beingWritten = []
		}
		await this.#noteHealth(await changed)
	}

	#isAnythingDue(): Promise<boolean> {
		return this.#claiming.look(() => this.#claims.isAnythingDue(), restFactors[this.#options.db.dialect])
	}

	async #noteHealth(signals: readonly Signalled[]): Promise<void> {
		const { db, now } = this.#options
		await Promise.all(signals.map((signal) => noteHealth(db, signal, now())))
	}

	/** Claims on PostgreSQL, while results are written. */
	async #claim(): Promise<void> {
		const { db, now } = this.#options
		const goesOn = () => this.#claims.isMoreDue && this.#freed > 0
		await this.#gather(() => !(goesOn() && this.#isTooFew(this.#freed)))
		if (this.#stopping || !(goesOn() || (await this.#isAnythingDue()))) return
		const at = now()
		if (this.#mustWriteBefore(at)) return
		const wanted = { most: batchSizes.postgres.alone, at, isBusy: this.#freed >= enough }
		this.#freed = 0
		const { claimed } = await db.transaction(async (tx) => (this.#stopping ? nothing : this.#claims.make(tx, wanted)), {
			durable: false,
		})
		this.#begin(await claimed)
	}

	/**
	 * Whether a claim at this time could find what has ended, and have it made again: after a pause of the machine its lease has ended
	 * before its result was written. Or the database cannot keep up, and enough waits.
	 */
	#mustWriteBefore(at: number): boolean {
		const results = [...this.#beingWritten, ...this.#ended, ...this.#unmade]
		return results.length >= mostUnwritten || results.some(({ result }) => result.leaseEnd <= at)
	}

	#probeNext({ endpointId }: Target): void {
		if (this.#unreached.size >= maxUnreached) this.#unreached.clear()
		this.#unreached.add(endpointId)
	}

	#begin(all: readonly Claimed[]): void {
		for (const { target } of all) this.#lanes.begin(target)
		for (const one of all) this.#attempt(one)
	}

	#attempt({ target, leaseEnd, delivery, body }: Claimed): void {
		const { db, egress, now, timeoutMs, schedule } = this.#options
		const startedAt = now()
		const keys = this.#signers.keysOf(target, startedAt)
		const { eventId } = delivery
		const own = this.#signers.headersOf(target)
		const outOfOrder = Boolean(delivery.outOfOrder)
		const traced = this.#options.traces?.begin('webhooks.attempt', {
			'remit.delivery_id': delivery.deliveryId,
			'server.address': target.host,
		})
		const trace = traced?.headers ?? {}
		const { attempt, stored } = requestOf({ url: target.url, own: own ?? {}, keys, eventId, startedAt, outOfOrder, trace, body })
		const canSend = keys.length > 0 && own !== undefined
		const networks = reachOf(target, db, now, this.#unreached.delete(target.endpointId))
		const end = (outcome: Outcome) => {
			const ended = classify({
				target,
				claimed: delivery,
				leaseEnd,
				startedAt,
				endedAt: now(),
				request: stored,
				outcome,
				schedule,
			})
			this.#lanes.end(target, ended)
			this.#freed++
			if (outcome.unreached) this.#probeNext(target)
			if (outcome.brokenOff || outcome.heldBack) this.#unmade.push(ended)
			else {
				this.#ended.push(ended)
				this.#failures.note(target, ended.failed, ended.result.endedAt)
			}
			traced?.end(outcome.error)
			this.#options.attempted?.(outcome.brokenOff ? 'broken_off' : outcome.heldBack ? 'held_back' : ended.result.status)
			this.#wake(this.#writing, ...(this.#claims.isMoreDue ? [this.#claiming] : []))
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
