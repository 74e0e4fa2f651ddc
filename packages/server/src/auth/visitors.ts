// Names the bucket in which requests without a key are counted.
import { networkOf } from '../base/network.ts'

/** A bucket holds some 500 bytes for up to a minute, in each limit. */
const mostNetworks = 50_000

const windowMs = 60_000

/**
 * Tells so many networks apart in a minute. Whoever comes after them shares one bucket: an attacker with many addresses does not use
 * up the memory.
 */
export class Visitors {
	readonly #most: number
	readonly #networks = new Set<string>()
	#endsAt = 0

	constructor(most = mostNetworks) {
		this.#most = most
	}

	/** The bucket of the first text that is an address. */
	bucketOf(addresses: readonly (string | undefined)[]): string {
		let network: string | undefined
		for (const address of addresses) network ??= networkOf(address ?? '')
		if (network === undefined) return 'address unknown'
		return this.#isApart(network) ? `address ${network}` : 'address others'
	}

	#isApart(network: string): boolean {
		const now = performance.now()
		if (now >= this.#endsAt) {
			this.#networks.clear()
			this.#endsAt = now + windowMs
		}
		if (this.#networks.has(network)) return true
		if (this.#networks.size >= this.#most) return false
		this.#networks.add(network)
		return true
	}
}
