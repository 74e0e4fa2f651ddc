// What the engine claims: fairly across endpoints, within the room of their lanes and hosts, with the bodies to send.
import { type Database, type Db, sent } from '../../../platform/db/database.ts'
import type { EventKey } from '../../../platform/events/store.ts'
import type { Lanes } from '../../../platform/work/lanes.ts'
import { releaseHosts } from '../probation-store.ts'
import { type ClaimedDelivery, claimDeliveries, type EndpointClaim, type Target } from './claim-store.ts'
import { EventBodies } from './event-bodies.ts'
import { admitOne, hasPass } from './host-proof.ts'
import { Targets } from './targets.ts'

export interface ClaimOptions {
	readonly db: Database
	readonly now: () => number
	readonly lanes: Lanes<Target>
	/** How long a claim holds. */
	readonly leaseMs: number
	readonly monotonic?: () => number
}

interface Plan extends EndpointClaim {
	readonly target: Target
}

interface Batch {
	readonly plan: Plan
	readonly deliveries: readonly ClaimedDelivery[]
	readonly leaseEnd: number
}

export interface Wanted {
	readonly most: number
	/** What is due by this time. */
	readonly at: number
	/** It may leave out endpoints that had nothing a moment ago. */
	readonly isBusy?: boolean
}

/** A delivery that was claimed, and what is sent. */
export interface Claimed {
	readonly target: Target
	readonly leaseEnd: number
	readonly delivery: ClaimedDelivery
	readonly body: Buffer
}

const eventOf = ({ organizationId, eventId: id }: ClaimedDelivery): EventKey => ({ organizationId, id })

export class Claims {
	readonly #options: ClaimOptions
	readonly #targets: Targets
	readonly #bodies = new EventBodies()
	/** The number of claims so far. It rotates the targets, since the room may be used up before each has had its turn. */
	#claims = 0
	#isMoreDue = false

	constructor(options: ClaimOptions) {
		this.#options = options
		this.#targets = new Targets(options.monotonic)
	}

	/** Whether the last look or claim left something that was due, for lack of room. */
	get isMoreDue(): boolean {
		return this.#isMoreDue
	}

	/** Whether something is due for which there is room. */
	async isAnythingDue(): Promise<boolean> {
		const { db, now } = this.#options
		const found = await this.#targets.find(db, now())
		const open = this.#withRoom(found)
		this.#isMoreDue = open.length < found.length
		return open.length > 0
	}

	/**
	 * Claims for each endpoint what its lane and its host have room for, but no more than an equal share of the remaining room; one
	 * delivery for a host on probation. Resolves when the claim has been made, to the promise of what was claimed: the commit can go out
	 * with the last statement.
	 */
	async make(tx: Db, { most, at, isBusy = false }: Wanted): Promise<{ readonly claimed: Promise<Claimed[]> }> {
		const known = isBusy ? this.#targets.known : []
		const found = known.length > 0 ? known : await this.#targets.find(tx, at)
		const plans = this.#plan(found, most, known.length > 0)
		this.#claims += plans.length
		const ofOrganizations = Map.groupBy(plans, ({ target }) => target.organizationId).values()
		const batches = (await Promise.all([...ofOrganizations].map((some) => this.#claim(tx, at, some)))).flat()
		this.#isMoreDue = plans.length < found.length || batches.some(({ plan, deliveries }) => deliveries.length === plan.limit)
		this.#targets.noteClaimed(batches)
		const claimed = this.#withBodies(tx, batches)
		// The commit goes out behind them.
		await sent(tx, claimed)
		return { claimed }
	}

	#plan(found: readonly Target[], most: number, areKnown: boolean): Plan[] {
		const { now, lanes } = this.#options
		let room = Math.min(lanes.room, most)
		const planned = { all: 0, ofOrganizations: new Map<string, number>(), toHosts: new Map<string, number>() }
		// The endpoints with the least room come first: the others share what these leave.
		const targets = this.#withRoom(found).slice(0, room).reverse()
		return targets.flatMap((target, index) => {
			const { organizationId, endpointId, host, provenAt, due: from, version } = target
			const { all, ofOrganizations, toHosts } = planned
			const before = { all, organization: ofOrganizations.get(organizationId) ?? 0, host: toHosts.get(host) ?? 0 }
			const share = Math.ceil(room / (targets.length - index))
			const limit = Math.min(lanes.roomOf(target, now(), before), share, provenAt === null ? 1 : share)
			if (limit <= 0) return []
			planned.all += limit
			ofOrganizations.set(organizationId, before.organization + limit)
			toHosts.set(host, before.host + limit)
			room -= limit
			return [{ target, endpointId, limit, from, ...(areKnown && { ifVersion: version }) }]
		})
	}

	/** Claims of endpoints of one organization. */
	async #claim(tx: Db, at: number, plans: readonly Plan[]): Promise<Batch[]> {
		const { leaseMs } = this.#options
		const { organizationId } = (plans[0] as Plan).target
		const leaseEnd = at + leaseMs
		const admitted: Plan[] = []
		for (const plan of plans)
			if (plan.target.provenAt !== null || (await admitOne(tx, plan.target, at, leaseEnd))) admitted.push(plan)
		const wanted = admitted.map(({ target: _, ...plan }) => plan)
		const claimed = wanted.length === 0 ? [] : await claimDeliveries(tx, { organizationId, now: at, leaseEnd }, wanted)
		const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
		const batches = admitted.map((plan) => ({ plan, leaseEnd, deliveries: byEndpoint.get(plan.endpointId) ?? [] }))
		for (const { plan, deliveries } of batches) {
			const { host, provenAt } = plan.target
			if (provenAt === null && deliveries.length === 0 && !hasPass(plan.target)) await releaseHosts(tx, [host])
		}
		return batches
	}

	async #withBodies(tx: Db, batches: readonly Batch[]): Promise<Claimed[]> {
		const bodyOf = await this.#bodies.of(
			tx,
			batches.flatMap(({ deliveries }) => deliveries.map(eventOf)),
		)
		return batches.flatMap(({ plan, leaseEnd, deliveries }) =>
			deliveries.flatMap((delivery) => {
				const body = bodyOf(eventOf(delivery))
				// An event stays while a delivery of it waits.
				return body ? [{ target: plan.target, leaseEnd, delivery, body }] : []
			}),
		)
	}

	/**
	 * The endpoints that have room, those with the most room first; among equals each comes first in turn. Of those of a host on
	 * probation those that have a pass, and the first of the others: the host gets one attempt, which is best made where one has worked.
	 */
	#withRoom(targets: readonly Target[]): Target[] {
		const { now, lanes } = this.#options
		const at = now()
		const room = (target: Target) => lanes.roomOf(target, at)
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
}
