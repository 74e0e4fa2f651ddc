// The endpoints for which something is due. On PostgreSQL the look-up passes over what has been delivered since the last vacuum, at each
// endpoint: 1 ms for four of them after 40,000 deliveries. So while a queue drains it is made ten times a second. Between, the engine claims of
// the endpoints that it found, each from the place in its queue to which it has come, as long as nobody has changed them.
import type { Db } from '../../../platform/db/database.ts'
import { type ClaimedDelivery, type EndpointClaim, findTargets, type Target } from './claim-store.ts'

/** For so long other endpoints wait, and what became due before what an endpoint had due. */
const trustedMs = 100

/** More endpoints are looked up as a whole: a turn has room for so many at most. */
const maxTargets = 200

export class Targets {
	readonly #monotonic: () => number
	#known: readonly Target[] = []
	#trustedUntil = 0

	constructor(monotonic = () => performance.now()) {
		this.#monotonic = monotonic
	}

	/** Looks all of them up. */
	async find(db: Db, now: number): Promise<readonly Target[]> {
		const found = await findTargets(db, now)
		const isKept = db.dialect === 'postgres' && found.length <= maxTargets
		this.#known = isKept ? found : []
		this.#trustedUntil = this.#monotonic() + trustedMs
		return found
	}

	/** Those with a proven host that were found a moment ago, and had more due than was claimed since. */
	get known(): readonly Target[] {
		return this.#monotonic() < this.#trustedUntil ? this.#known.filter(({ provenAt }) => provenAt !== null) : []
	}

	/** Notes what was claimed of endpoints: each goes on behind that, or has nothing left for now. */
	noteClaimed(all: readonly { readonly plan: EndpointClaim; readonly deliveries: readonly ClaimedDelivery[] }[]): void {
		const claimed = new Map(all.map((one) => [one.plan.endpointId, one]))
		this.#known = this.#known.flatMap((target) => {
			const { plan, deliveries } = claimed.get(target.endpointId) ?? {}
			if (!plan || !deliveries) return [target]
			return deliveries.length < plan.limit ? [] : [{ ...target, due: Math.max(...deliveries.map(({ dueSince }) => dueSince)) }]
		})
	}
}
