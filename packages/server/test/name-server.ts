// A name server (RFC 1035, over UDP) for tests: it answers, refuses or stays silent, by name.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'

/** IPv4 addresses and their TTL in seconds, a failure, or no answer at all. */
export type NameAnswer = { readonly addresses: readonly string[]; readonly ttl: number } | 'NXDOMAIN' | 'SERVFAIL' | 'silence'

const failures = { SERVFAIL: 2, NXDOMAIN: 3 }
const typeA = 1

export class NameServer {
	readonly #socket = createSocket('udp4', (query, { port, address }) => this.#take(query, port, address))
	readonly #answerTo: (name: string) => NameAnswer
	/** The names of all queries for IPv4 addresses, in order. */
	readonly asked: string[] = []

	constructor(answerTo: (name: string) => NameAnswer) {
		this.#answerTo = answerTo
	}

	async start(): Promise<this> {
		this.#socket.bind(0, '127.0.0.1')
		await once(this.#socket, 'listening')
		return this
	}

	/** As the resolver takes it. */
	get address(): string {
		return `127.0.0.1:${this.#socket.address().port}`
	}

	async stop(): Promise<void> {
		await new Promise<void>((closed) => this.#socket.close(closed))
	}

	#take(query: Buffer, port: number, address: string): void {
		const labels: string[] = []
		let at = 12
		for (let length = query[at] as number; length > 0; length = query[at] as number) {
			labels.push(query.toString('latin1', at + 1, at + 1 + length))
			at += 1 + length
		}
		const type = query.readUInt16BE(at + 1)
		const name = labels.join('.')
		if (type === typeA) this.asked.push(name)
		const answer = this.#answerTo(name)
		if (answer === 'silence') return
		const found = typeof answer === 'string' || type !== typeA ? [] : answer.addresses.filter((one) => isIP(one) === 4)
		const header = Buffer.from(query.subarray(0, 12))
		// A response with recursion, and its code; one question, as many answers, no more.
		header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? failures[answer] : 0), 2)
		header.writeUInt16BE(1, 4)
		header.writeUInt16BE(found.length, 6)
		header.writeUInt32BE(0, 8)
		const ttl = typeof answer === 'string' ? 0 : answer.ttl
		const records = found.map((one) => {
			// The name by its offset, then type, class, TTL and the four bytes of the address.
			const record = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...one.split('.').map(Number)])
			record.writeUInt32BE(ttl, 6)
			return record
		})
		this.#socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...records]), port, address)
	}
}
