// How much may be under way at once: in this process, of an organization, and to each endpoint. A slow or dead endpoint uses
// up its own room and nobody else's.

/** Attempts under way in this process. */
const slots = 200
/** Those of one organization, however many endpoints it has. */
const slotsPerOrganization = 100
/** Attempts under way to one endpoint, by how its last attempt ended: little is lost to one that lets us wait. */
const slotsPerEndpoint = { untried: 5, works: 25, fails: 2 } as const

/** After so many failures in a row an endpoint gets two attempts at a time and then a rest: its queue is not worth the others' time. */
const patience = 10
const restMs = 100

/** Endpoints whose last attempt is remembered. */
const remembered = 10_000

interface Lane {
	running: number
	state: keyof typeof slotsPerEndpoint
	/** Failures in a row. */
	failures: number
	/** A rest after failures lasts until then, by the monotonic clock. */
	restUntil: number
	/** The receiver asked for a pause until then, in Unix milliseconds. */
	heldUntil: number
}

/** Whose lane it is. */
export interface Owner {
	readonly organizationId: string
	readonly endpointId: string
}

export class Lanes {
	readonly #lanes = new Map<string, Lane>()
	readonly #ofOrganizations = new Map<string, number>()
	readonly #monotonic: () => number
	#running = 0

	constructor(monotonic = () => performance.now()) {
		this.#monotonic = monotonic
	}

	/** Attempts that are under way. */
	get running(): number {
		return this.#running
	}

	/** How many more may begin. */
	get room(): number {
		return slots - this.#running
	}

	/** How many more may begin to an endpoint. */
	roomOf({ organizationId, endpointId }: Owner, now: number): number {
		const { running, state, heldUntil, restUntil } = this.#lanes.get(endpointId) ?? untried
		if (heldUntil > now || (restUntil > 0 && restUntil > this.#monotonic())) return 0
		const ofOrganization = slotsPerOrganization - (this.#ofOrganizations.get(organizationId) ?? 0)
		return Math.min(slotsPerEndpoint[state] - running, ofOrganization)
	}

	begin(owner: Owner): void {
		let lane = this.#lanes.get(owner.endpointId)
		if (!lane) {
			if (this.#lanes.size >= remembered) this.#forgetIdle()
			lane = { ...untried }
			this.#lanes.set(owner.endpointId, lane)
		}
		lane.running++
		this.#count(owner, 1)
	}

	/** `heldUntil` when the receiver asked for a pause. */
	end(owner: Owner, { failed, heldUntil }: { failed: boolean; heldUntil?: number }): void {
		this.#count(owner, -1)
		const lane = this.#lanes.get(owner.endpointId)
		if (!lane) return
		lane.running--
		lane.state = failed ? 'fails' : 'works'
		lane.failures = failed ? lane.failures + 1 : 0
		lane.restUntil = lane.failures >= patience ? this.#monotonic() + restMs : 0
		if (heldUntil !== undefined) lane.heldUntil = heldUntil
	}

	#forgetIdle(): void {
		for (const [endpointId, { running }] of this.#lanes) if (running === 0) this.#lanes.delete(endpointId)
	}

	#count({ organizationId }: Owner, change: 1 | -1): void {
		this.#running += change
		const running = (this.#ofOrganizations.get(organizationId) ?? 0) + change
		if (running > 0) this.#ofOrganizations.set(organizationId, running)
		else this.#ofOrganizations.delete(organizationId)
	}
}

const untried: Readonly<Lane> = { running: 0, state: 'untried', failures: 0, restUntil: 0, heldUntil: 0 }
