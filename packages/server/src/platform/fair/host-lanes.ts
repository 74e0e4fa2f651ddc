// Limits on the calls of this process to one host: however many organizations name it, it is one neighbour. Its owners share the calls:
// one may have half of what the others leave.
import { FairRoom } from './shares.ts'

/** Hosts to remember; beyond that, idle ones are dropped. */
const maxHosts = 10_000

interface HostLane {
	readonly room: FairRoom
	/** Calls that may begin now; a second's worth at most. */
	tokens: number
	/** When the tokens were counted, by the monotonic clock. */
	countedAt: number
}

export interface HostLimits {
	/** Calls that may run at once to one host. */
	readonly slotsPerHost: number
	/** Calls that may begin to one host in a second; 0 for any number. */
	readonly hostRate: number
}

export class HostLanes {
	readonly #hosts = new Map<string, HostLane>()
	readonly #slots: number
	readonly #perSecond: number
	readonly #monotonic: () => number
	/** In place of that of a host that is not remembered. */
	readonly #idle: HostLane

	constructor({ slotsPerHost, hostRate }: HostLimits, monotonic: () => number) {
		this.#slots = slotsPerHost
		this.#perSecond = hostRate || Number.POSITIVE_INFINITY
		this.#monotonic = monotonic
		this.#idle = this.#newLane()
	}

	/** How many more calls of an owner may begin to a host, besides `planned` ones of others. */
	roomFor(host: string, owner: string, planned: number): number {
		const lane = this.#hosts.get(host) ?? this.#idle
		return Math.min(lane.room.of(owner, { own: 0, all: planned }), Math.floor(this.#tokensOf(lane)) - planned)
	}

	begin(host: string, owner: string): void {
		let lane = this.#hosts.get(host)
		if (!lane) {
			if (this.#hosts.size >= maxHosts) this.#forgetIdle()
			lane = this.#newLane()
			this.#hosts.set(host, lane)
		}
		lane.room.begin(owner)
		lane.tokens = this.#tokensOf(lane) - 1
		lane.countedAt = this.#monotonic()
	}

	end(host: string, owner: string): void {
		this.#hosts.get(host)?.room.end(owner)
	}

	#newLane(): HostLane {
		return { room: new FairRoom(this.#slots), tokens: this.#perSecond, countedAt: this.#monotonic() }
	}

	#tokensOf({ tokens, countedAt }: HostLane): number {
		if (this.#perSecond === Number.POSITIVE_INFINITY) return this.#perSecond
		return Math.min(this.#perSecond, tokens + ((this.#monotonic() - countedAt) * this.#perSecond) / 1000)
	}

	#forgetIdle(): void {
		for (const [host, lane] of this.#hosts)
			if (lane.room.running === 0 && this.#tokensOf(lane) >= this.#perSecond) this.#hosts.delete(host)
	}
}
