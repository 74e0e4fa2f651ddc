// Keeps bytes in memory; those that were not used for the longest time make room for new ones.
export class KeptBytes {
	readonly #kept = new Map<string, Uint8Array>()
	readonly #most: number
	#size = 0

	/** `most` bytes in all. */
	constructor(most: number) {
		this.#most = most
	}

	get(key: string): Uint8Array | undefined {
		const bytes = this.#kept.get(key)
		if (!bytes) return undefined
		// A Map keeps the order of insertion: the first key is the one that was not used for the longest time.
		this.#kept.delete(key)
		this.#kept.set(key, bytes)
		return bytes
	}

	set(key: string, bytes: Uint8Array): void {
		this.#size += bytes.byteLength - (this.#kept.get(key)?.byteLength ?? 0)
		this.#kept.set(key, bytes)
		for (const [oldest, { byteLength }] of this.#kept) {
			if (this.#size <= this.#most) return
			this.#kept.delete(oldest)
			this.#size -= byteLength
		}
	}
}
