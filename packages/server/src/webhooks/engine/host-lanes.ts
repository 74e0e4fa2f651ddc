// Limits on the attempts of this process to one host: however many endpoints and organizations name a receiver, it is one
// neighbour.

/** Attempts that may run at once to one host, as many as for one organization. */
const slotsPerHost = 100

/** Hosts to remember; beyond that, idle ones are dropped. */
const maxHosts = 10_000

interface HostLane {
	running: number
	/** Attempts that may begin now; a second's worth at most. */
	tokens: number
	/** When the tokens were counted, by the monotonic clock. */
	countedAt: number
}

export class HostLanes {
	readonly #hosts = new Map<string, HostLane>()
	readonly #perSecond: number
	readonly #monotonic: () => number

	/** `perSecond` is the number of attempts that may begin in a second; 0 for any number. */
	constructor(perSecond: number, monotonic = () => performance.now()) {
		this.#perSecond = perSecond || Number.POSITIVE_INFINITY
		this.#monotonic = monotonic
	}

	/** How many more attempts may begin to a host. */
	roomOf(host: string): number {
		const lane = this.#hosts.get(host)
		if (!lane) return Math.min(slotsPerHost, this.#perSecond)
		return Math.min(slotsPerHost - lane.running, Math.floor(this.#tokensOf(lane)))
	}

	begin(host: string): void {
		let lane = this.#hosts.get(host)
		if (!lane) {
			if (this.#hosts.size >= maxHosts) this.#forgetIdle()
			lane = { running: 0, tokens: this.#perSecond, countedAt: this.#monotonic() }
			this.#hosts.set(host, lane)
		}
		lane.running++
		lane.tokens = this.#tokensOf(lane) - 1
		lane.countedAt = this.#monotonic()
	}

	end(host: string): void {
		const lane = this.#hosts.get(host)
		if (lane) lane.running--
	}

	#tokensOf({ tokens, countedAt }: HostLane): number {
		if (this.#perSecond === Number.POSITIVE_INFINITY) return this.#perSecond
		return Math.min(this.#perSecond, tokens + ((this.#monotonic() - countedAt) * this.#perSecond) / 1000)
	}

	#forgetIdle(): void {
		for (const [host, lane] of this.#hosts)
			if (lane.running === 0 && this.#tokensOf(lane) >= this.#perSecond) this.#hosts.delete(host)
	}
}
