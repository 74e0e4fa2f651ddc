// A TCP proxy between a server and PostgreSQL, which fails as networks do.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The simple query `commit` of PostgreSQL's protocol: its type, its length and its text. */
const commit = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1')

/** How the answer to a commit begins: its type, its length and its text. */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1')

export class DatabaseProxy {
	/** What becomes of the next commit. `unanswered`: PostgreSQL gets it, and the connection ends before its answer arrives. */
	nextCommit: 'passes' | 'lost' | 'unanswered' = 'passes'
	losesCommits = false
	/** How often something was sent after an answer: a client that waits for each answer before it sends more makes one trip for each. */
	trips = 0
	#target: URL
	readonly #sockets = new Set<Socket>()
	readonly #server = createServer((socket) => this.#connect(socket))
	#port = 0
	#holdsNew = false
	/** The bytes that each socket is to get later. */
	readonly #held = new Map<Socket, Buffer[]>()

	constructor(databaseUrl: string) {
		this.#target = new URL(databaseUrl)
	}

	/** The database's URL through the proxy. */
	get url(): string {
		return Object.assign(new URL(this.#target), { host: `127.0.0.1:${this.#port}` }).href
	}

	/** Listens, the second time on the port of the first. */
	async listen(): Promise<this> {
		this.#server.listen(this.#port, '127.0.0.1')
		await once(this.#server, 'listening')
		this.#port = (this.#server.address() as AddressInfo).port
		return this
	}

	/** Ends all connections, and leads new ones to another database. */
	leadTo(databaseUrl: string): void {
		this.#target = new URL(databaseUrl)
		for (const socket of this.#sockets) socket.destroy()
	}

	/** Refuses new connections and ends all. */
	cut(): void {
		this.#server.close()
		for (const socket of this.#sockets) socket.destroy()
		this.#sockets.clear()
	}

	/** Keeps every byte, also those of new connections, until `pass`: the network takes them and delivers nothing. */
	hold(): void {
		this.#holdsNew = true
		for (const socket of this.#sockets) this.#held.set(socket, [])
	}

	/** As `hold`, but only for the connections that are open now. */
	holdOpen(): void {
		this.hold()
		this.#holdsNew = false
	}

	/** The number of packets that are kept. */
	get kept(): number {
		return [...this.#held.values()].flat().length
	}

	pass(): void {
		this.#holdsNew = false
		for (const [socket, packets] of this.#held) for (const bytes of packets) if (!socket.destroyed) socket.write(bytes)
		this.#held.clear()
	}

	#send(to: Socket, bytes: Buffer): void {
		const kept = this.#held.get(to)
		if (kept) kept.push(bytes)
		else to.write(bytes)
	}

	#connect(socket: Socket): void {
		const onward = connect(Number(this.#target.port || 5432), this.#target.hostname)
		const end = () => {
			for (const one of [socket, onward]) {
				one.destroy()
				this.#sockets.delete(one)
				this.#held.delete(one)
			}
		}
		for (const one of [socket, onward]) {
			this.#sockets.add(one.on('error', () => {}).on('close', end))
			if (this.#holdsNew) this.#held.set(one, [])
		}
		let isUnanswered = false
		let isAnswered = true
		socket.on('data', (bytes) => {
			if (isAnswered) this.trips++
			isAnswered = false
			const fate = bytes.includes(commit) ? (this.losesCommits ? 'lost' : this.nextCommit) : 'passes'
			if (fate !== 'passes') this.nextCommit = 'passes'
			if (fate === 'lost') return end()
			isUnanswered ||= fate === 'unanswered'
			this.#send(onward, bytes)
		})
		onward.on('data', (bytes) => {
			isAnswered = true
			// Before it there may be answers to statements that were sent with it.
			if (isUnanswered && bytes.includes(committed)) end()
			else this.#send(socket, bytes)
		})
	}
}
