// What is under way on the connections of the server, and how they end.
import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { loopTurns } from './turns.ts'

/** How often `drain` looks whether every answer has left. */
const sweepMs = 20

export class Connections {
	readonly #server: Server
	readonly #sockets = new Set<Socket>()
	/** The answers that were not yet handed to the system whole, or not begun. */
	readonly #answers = new Set<ServerResponse>()
	#isDraining = false

	constructor(server: Server) {
		this.#server = server
		server.on('connection', (socket: Socket) => {
			loopTurns.connected()
			this.#sockets.add(socket)
			socket.once('close', () => this.#sockets.delete(socket))
		})
	}

	/** To be called for every request, before anything of its answer is written. */
	begin(res: ServerResponse): void {
		if (this.#isDraining) res.setHeader('Connection', 'close')
		this.#answers.add(res)
		const answers = this.#answers
		res.on('close', () => answers.delete(res))
	}

	/**
	 * Takes no new connection; closes those that are there once no answer is under way on any of them. Until then a request on a
	 * kept connection is answered, with `Connection: close`.
	 */
	async drain(): Promise<void> {
		this.#isDraining = true
		for (const res of this.#answers) if (!res.headersSent) res.setHeader('Connection', 'close')
		// node:http's own `close` cuts the answers that a client is still reading.
		const closed = new Promise((resolve) => NetServer.prototype.close.call(this.#server, resolve))
		const sweep = setInterval(() => {
			if (this.#answers.size === 0) this.#closeIdle()
		}, sweepMs)
		await closed
		clearInterval(sweep)
		// Ends the timer with which node:http looks for slow requests.
		this.#server.close()
	}

	/** Breaks off what is under way. A client sees that its answer is not whole: the length or the last chunk is missing. */
	cut(): void {
		for (const socket of this.#sockets) socket.destroy()
	}

	/** Node does not count a connection as idle on which nothing ever arrived, such as a browser opens ahead. */
	#closeIdle(): void {
		for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
		this.#server.closeIdleConnections()
	}
}
