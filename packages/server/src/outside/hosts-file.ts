// The names that the machine itself gives to addresses, by hosts(5). Other programs look there before they ask a name server.
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

export interface Address {
	readonly address: string
	readonly family: 4 | 6
}

/** How long a look at the file is good for, so that many look-ups cost one. */
const lookAgainMs = 1_000

export class HostsFile {
	readonly #path: string
	#names = new Map<string, Address[]>()
	#state = ''
	#lookAt = 0

	constructor(path = '/etc/hosts') {
		this.#path = path
	}

	/** The addresses of a name in lower case without a trailing dot; undefined when the file does not have it. */
	addressesOf(name: string): readonly Address[] | undefined {
		if (performance.now() >= this.#lookAt) this.#look()
		return this.#names.get(name)
	}

	/** Reads the file when it has changed. A machine without the file has no names of its own. */
	#look(): void {
		this.#lookAt = performance.now() + lookAgainMs
		try {
			const { mtimeMs, size, ino } = statSync(this.#path)
			const state = `${mtimeMs} ${size} ${ino}`
			if (state === this.#state) return
			this.#names = namesIn(readFileSync(this.#path, 'utf8'))
			this.#state = state
		} catch {
			this.#names = new Map()
			this.#state = ''
		}
	}
}

function namesIn(text: string): Map<string, Address[]> {
	const names = new Map<string, Address[]>()
	for (const line of text.split('\n')) {
		const [address = '', ...of] = line.replace(/#.*/, '').trim().split(/\s+/)
		const family = isIP(address)
		if (family !== 4 && family !== 6) continue
		for (const name of of) {
			const key = name.toLowerCase()
			const known = names.get(key)
			if (known) known.push({ address, family })
			else names.set(key, [{ address, family }])
		}
	}
	return names
}
