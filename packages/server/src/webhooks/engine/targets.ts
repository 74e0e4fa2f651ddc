// The endpoints for which something is due. On PostgreSQL the look-up passes over what has been delivered since the last vacuum, at each
// endpoint: 1 ms for four of them after 40,000 deliveries. So while a queue drains it is made ten times a second. Between, only the endpoints
// that it found are asked about, each from the place in its queue where something was due.
import type { Db } from '../../db/database.ts'
import { findTargets, findTargetsAmong, type Target } from './targets-store.ts'

/** For so long other endpoints wait, and what became due before what an endpoint had due. */
const trustedMs = 100

/** More endpoints are looked up as a whole: a turn has room for so many at most. */
const maxTargets = 200

export class Targets {
	readonly #monotonic: () => number
	#before: readonly Target[] = []
	#trustedUntil = 0

	constructor(monotonic = () => performance.now()) {
		this.#monotonic = monotonic
	}

	/** All of them. */
	async find(db: Db, now: number): Promise<Target[]> {
		const targets = await findTargets(db, now)
		this.#before = targets
		const isKept = db.dialect === 'postgres' && targets.length > 0 && targets.length <= maxTargets
		this.#trustedUntil = isKept ? this.#monotonic() + trustedMs : 0
		return targets
	}

	/** Those that were there a moment ago, if any of them still has something due. */
	async findAgain(db: Db, now: number): Promise<Target[]> {
		if (this.#monotonic() < this.#trustedUntil) {
			const targets = await findTargetsAmong(db, this.#before, now)
			const found = new Map(targets.map((target) => [target.endpointId, target]))
			this.#before = this.#before.map((target) => found.get(target.endpointId) ?? target)
			if (targets.length > 0) return targets
		}
		return this.find(db, now)
	}
}
