// What is under way on the connections of the server, and how they end.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { loopTurns } from '../fair/turns.ts'

/** How many requests of a connection may wait for their answers: no client sends more ahead, and each costs the event loop. */
const mostAhead = 16

/** How often `drain` looks whether every answer has left. */
const sweepMs = 20

export class Connections {
	readonly #server: Server
	/**
	 * The answers of each that were not yet handed to the system whole, or not begun. Not in one set: each table that a
	 * set outgrows points to the next, so that once one is in V8's old generation all later ones, and their requests, get there.
	 */
	readonly #sockets = new Map<Socket, ServerResponse[]>()
	#isEnding = false

	constructor(server: Server) {
		this.#server = server
		server.on('connection', (socket: Socket) => {
			loopTurns.connected()
			this.#sockets.set(socket, [])
			// Asked for now, the address is known also when the client is gone by the time that it is needed.
			void socket.remoteAddress
			socket.once('close', () => this.#sockets.delete(socket))
		})
	}

	/**
	 * To be called for every request, before anything of its answer is written. Returns whether to answer: a client that sends too
	 * many requests ahead is cut off, since node:http would begin thousands in one turn of the event loop.
	 */
	begin({ socket }: IncomingMessage, res: ServerResponse): boolean {
		const answers = this.#sockets.get(socket)
		if (answers === undefined || socket.destroyed) return false
		if (answers.length >= mostAhead) {
			socket.destroy()
			return false
		}
		if (this.#isEnding) res.setHeader('Connection', 'close')
		answers.push(res)
		res.on('close', () => answers.splice(answers.indexOf(res), 1))
		return true
	}

	/** Whether the server is to end, now or after a while. */
	get isEnding(): boolean {
		return this.#isEnding
	}

	/** From now on each answer ends its connection. */
	announceEnd(): void {
		this.#isEnding = true
		for (const answers of this.#sockets.values())
			for (const res of answers) if (!res.headersSent) res.setHeader('Connection', 'close')
	}

	/**
	 * Takes no new connection; closes those that are there once no answer is under way on any of them. Until then a request on a
	 * kept connection is answered, with `Connection: close`.
	 */
	async drain(): Promise<void> {
		this.announceEnd()
		// node:http's own `close` cuts the answers that a client is still reading.
		const closed = new Promise((resolve) => NetServer.prototype.close.call(this.#server, resolve))
		const sweep = setInterval(() => {
			if ([...this.#sockets.values()].every((answers) => answers.length === 0)) this.#closeIdle()
		}, sweepMs)
		await closed
		clearInterval(sweep)
		// Ends the timer with which node:http looks for slow requests.
		this.#server.close()
	}

	/** Breaks off what is under way. A client sees that its answer is not whole: the length or the last chunk is missing. */
	cut(): void {
		for (const socket of this.#sockets.keys()) socket.destroy()
	}

	/** Node does not count a connection as idle on which nothing ever arrived, such as a browser opens ahead. */
	#closeIdle(): void {
		for (const socket of this.#sockets.keys()) if (socket.bytesRead === 0) socket.destroy()
		this.#server.closeIdleConnections()
	}
}
