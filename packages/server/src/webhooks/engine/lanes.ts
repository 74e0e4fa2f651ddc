// Limits on the attempts that run at once: in this process, for each organization, to each endpoint and to each host. A slow or
// dead endpoint uses up only its own room.
import { fairRoom } from '../../db/shares.ts'
import { HostLanes } from './host-lanes.ts'
import { longestWaitMs } from './schedule.ts'

/** Attempts that may run at once in this process. */
const slots = 200
/** Attempts that may run at once to one endpoint, by how its last one ended: an endpoint that hangs ties up few slots. */
const slotsPerEndpoint = { untried: 5, works: 25, fails: 2 } as const

/** After this many failures in a row an endpoint rests after each failure: the time is better spent on other endpoints. */
const failuresBeforeRest = 10
const restMs = 100

/** Lanes to remember; beyond that, idle lanes are dropped. */
const maxLanes = 10_000

interface Lane {
	running: number
	state: keyof typeof slotsPerEndpoint
	/** Failures in a row. */
	failures: number
	/** End of the rest after failures, by the monotonic clock. */
	restUntil: number
	/** End of the pause that the receiver asked for, in Unix milliseconds. */
	heldUntil: number
}

/** The endpoint of a lane, its organization and its host. */
export interface LaneKey {
	readonly organizationId: string
	readonly endpointId: string
	readonly host: string
}

export class Lanes {
	readonly #lanes = new Map<string, Lane>()
	readonly #ofOrganizations = new Map<string, number>()
	readonly #hosts: HostLanes
	readonly #monotonic: () => number
	#running = 0

	/** `hostRate` is the number of attempts that may begin to one host in a second; 0 for any number. */
	constructor({ hostRate = 0, monotonic = () => performance.now() } = {}) {
		this.#hosts = new HostLanes(hostRate, monotonic)
		this.#monotonic = monotonic
	}

	/** Attempts that run now. */
	get running(): number {
		return this.#running
	}

	/** How many more attempts may begin in this process. */
	get room(): number {
		return slots - this.#running
	}

	/** How many more attempts may begin to one endpoint. */
	roomOf({ organizationId, endpointId, host }: LaneKey, now: number): number {
		const { running, state, heldUntil, restUntil } = this.#lanes.get(endpointId) ?? untried
		// A pause that ends later than a receiver may ask for began before the clock was set back.
		const isHeld = heldUntil > now && heldUntil - now <= longestWaitMs
		if (isHeld || (restUntil > 0 && restUntil > this.#monotonic())) return 0
		return Math.min(slotsPerEndpoint[state] - running, this.#roomOfOrganization(organizationId), this.#hosts.roomOf(host))
	}

	/**
	 * An organization may have half of what the others leave, however many endpoints it has: 100 when it is alone, and when it has them
	 * the next one 50. So there is room for one more, whoever's receivers hang.
	 */
	#roomOfOrganization(organizationId: string): number {
		const own = this.#ofOrganizations.get(organizationId) ?? 0
		return fairRoom(slots, this.#running, own)
	}

	/** How many more attempts may begin to a host. */
	roomOfHost(host: string): number {
		return this.#hosts.roomOf(host)
	}

	begin(owner: LaneKey): void {
		let lane = this.#lanes.get(owner.endpointId)
		if (!lane) {
			if (this.#lanes.size >= maxLanes) this.#forgetIdle()
			lane = { ...untried }
			this.#lanes.set(owner.endpointId, lane)
		}
		lane.running++
		this.#hosts.begin(owner.host)
		this.#count(owner, 1)
	}

	/** `heldUntil` is set when the receiver asked for a pause. */
	end(owner: LaneKey, { failed, heldUntil }: { failed: boolean; heldUntil?: number }): void {
		this.#count(owner, -1)
		this.#hosts.end(owner.host)
		const lane = this.#lanes.get(owner.endpointId)
		if (!lane) return
		lane.running--
		lane.state = failed ? 'fails' : 'works'
		lane.failures = failed ? lane.failures + 1 : 0
		lane.restUntil = lane.failures >= failuresBeforeRest ? this.#monotonic() + restMs : 0
		if (heldUntil !== undefined) lane.heldUntil = heldUntil
	}

	#forgetIdle(): void {
		for (const [endpointId, { running }] of this.#lanes) if (running === 0) this.#lanes.delete(endpointId)
	}

	#count({ organizationId }: LaneKey, change: 1 | -1): void {
		this.#running += change
		const running = (this.#ofOrganizations.get(organizationId) ?? 0) + change
		if (running > 0) this.#ofOrganizations.set(organizationId, running)
		else this.#ofOrganizations.delete(organizationId)
	}
}

const untried: Readonly<Lane> = { running: 0, state: 'untried', failures: 0, restUntil: 0, heldUntil: 0 }
