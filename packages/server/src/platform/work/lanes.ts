// Limits on the calls to others that run at once: in this process, for each organization, to each owner (such as a webhook endpoint)
// and to each host. An owner whose far end is slow or dead uses up only its own room.

import { HostLanes, type HostLimits } from '../fair/host-lanes.ts'
import { FairRoom } from '../fair/shares.ts'
import { isPaused, noPause, type Pause } from './backoff.ts'

export interface LaneLimits extends HostLimits {
	/** Calls that may run at once in this process. */
	readonly slots: number
	/** Calls that may run at once to one owner, by how its last one ended: one that hangs is to tie up few slots. */
	readonly slotsOf: Readonly<Record<'untried' | 'works' | 'fails', number>>
	/** An owner of whose calls none has ended for so long gets no more than one that is untried, and while some run than one that fails. */
	readonly silentMs: number
	/** After so many failures in a row an owner rests after each one: the time is better spent on others. */
	readonly failuresBeforeRest: number
	readonly restMs: number
}

/** Lanes to remember; beyond that, idle lanes are dropped. */
const maxLanes = 10_000

interface Lane {
	running: number
	/** When a call last began while none ran, and when one last ended, by the monotonic clock. */
	begunAt: number
	heardAt: number
	/** How the last one ended. */
	state: keyof LaneLimits['slotsOf']
	/** Failures in a row. */
	failures: number
	/** End of the rest after failures, by the monotonic clock. */
	restUntil: number
	/** What the far end asked for. */
	pause: Pause
}

/** Whose calls a lane limits. */
export interface LaneOwner {
	readonly organizationId: string
	readonly host: string
	/** What its far end asked for before then is over. */
	readonly resumedAt?: number | null
}

/** Calls that are to begin: in all, of the organization of an owner, and to its host. */
export interface Planned {
	readonly all: number
	readonly organization: number
	readonly host: number
}

const nothingPlanned: Planned = { all: 0, organization: 0, host: 0 }

export class Lanes<Owner extends LaneOwner> {
	readonly #idOf: (owner: Owner) => string
	readonly #limits: LaneLimits
	readonly #lanes = new Map<string, Lane>()
	readonly #room: FairRoom
	readonly #hosts: HostLanes
	readonly #monotonic: () => number

	constructor(idOf: (owner: Owner) => string, limits: LaneLimits, monotonic = () => performance.now()) {
		this.#idOf = idOf
		this.#limits = limits
		this.#room = new FairRoom(limits.slots)
		this.#hosts = new HostLanes(limits, monotonic)
		this.#monotonic = monotonic
	}

	/** Calls that run now. */
	get running(): number {
		return this.#room.running
	}

	/** How many more calls may begin in this process. */
	get room(): number {
		return this.#room.left
	}

	/**
	 * How many more calls may begin to one owner, besides those that are planned to others; an organization may have half of what the others
	 * leave, however many owners it has.
	 */
	roomOf(owner: Owner, now: number, planned: Planned = nothingPlanned): number {
		const id = this.#idOf(owner)
		const lane = this.#lanes.get(id) ?? untried
		const { running, pause, restUntil } = lane
		if ((isPaused(pause, now) && pause.from >= (owner.resumedAt ?? 0)) || (restUntil > 0 && restUntil > this.#monotonic()))
			return 0
		const own = this.#limits.slotsOf[this.#stateOf(lane)] - running
		const ofOrganization = { own: planned.organization, all: planned.all }
		return Math.min(own, this.#room.of(owner.organizationId, ofOrganization), this.#hosts.roomFor(owner.host, id, planned.host))
	}

	#stateOf({ running, begunAt, heardAt, state }: Lane): Lane['state'] {
		const since = this.#monotonic() - this.#limits.silentMs
		if (running > 0 && Math.max(begunAt, heardAt) < since) return 'fails'
		return state === 'works' && heardAt < since ? 'untried' : state
	}

	begin(owner: Owner): void {
		const id = this.#idOf(owner)
		let lane = this.#lanes.get(id)
		if (!lane) {
			if (this.#lanes.size >= maxLanes) this.#forgetIdle()
			lane = { ...untried }
			this.#lanes.set(id, lane)
		}
		if (lane.running === 0) lane.begunAt = this.#monotonic()
		lane.running++
		this.#room.begin(owner.organizationId)
		this.#hosts.begin(owner.host, id)
	}

	/** `pause` is set when the far end asked for one. */
	end(owner: Owner, { failed, pause }: { failed: boolean; pause?: Pause }): void {
		this.#room.end(owner.organizationId)
		const id = this.#idOf(owner)
		this.#hosts.end(owner.host, id)
		const lane = this.#lanes.get(id)
		if (!lane) return
		const { failuresBeforeRest, restMs } = this.#limits
		lane.running--
		lane.heardAt = this.#monotonic()
		lane.state = failed ? 'fails' : 'works'
		lane.failures = failed ? lane.failures + 1 : 0
		lane.restUntil = lane.failures >= failuresBeforeRest ? this.#monotonic() + restMs : 0
		if (pause) lane.pause = pause
	}

	#forgetIdle(): void {
		for (const [id, { running }] of this.#lanes) if (running === 0) this.#lanes.delete(id)
	}
}

const untried: Readonly<Lane> = {
	running: 0,
	begunAt: 0,
	heardAt: 0,
	state: 'untried',
	failures: 0,
	restUntil: 0,
	pause: noPause,
}
