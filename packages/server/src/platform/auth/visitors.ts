// Names the bucket in which requests without a key are counted.
import { networkOf, widerNetworks } from '../base/network.ts'

/** A bucket holds some 500 bytes for up to a minute, in each limit. */
const mostNetworks = 25_000

const windowMs = 60_000

/**
 * Tells so many networks of each size apart in a minute, so that an attacker with many addresses does not use up the memory. A network that comes
 * after them shares the bucket of a wider one, and of the widest there are few: the networks of an attacker never share a bucket with all others.
 */
export class Visitors {
	readonly #most: number
	/** By size. */
	readonly #apart = new Map<string, Set<string>>()
	#endsAt = 0

	constructor(most = mostNetworks) {
		this.#most = most
	}

	/** The bucket of the first text that is an address. */
	bucketOf(addresses: readonly (string | undefined)[]): string {
		let network: string | undefined
		for (const address of addresses) network ??= networkOf(address ?? '')
		return `address ${network === undefined ? 'unknown' : this.#narrowest(network)}`
	}

	#narrowest(network: string): string {
		const now = performance.now()
		if (now >= this.#endsAt) {
			this.#apart.clear()
			this.#endsAt = now + windowMs
		}
		if (this.#isApart(network)) return network
		const wider = widerNetworks(network)
		return wider.find((one) => this.#isApart(one)) ?? (wider.at(-1) as string)
	}

	#isApart(network: string): boolean {
		const slash = network.indexOf('/')
		const size = slash < 0 ? '' : network.slice(slash)
		let networks = this.#apart.get(size)
		if (networks === undefined) {
			networks = new Set()
			this.#apart.set(size, networks)
		}
		if (networks.has(network)) return true
		if (networks.size >= this.#most) return false
		networks.add(network)
		return true
	}
}
