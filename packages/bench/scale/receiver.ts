// A receiver of webhooks that counts how often each event arrives.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../resources.ts'

export interface Receiver {
	readonly url: string
	/** How often each event has arrived, by its id. */
	readonly arrived: ReadonlyMap<string, number>
	/** The number of events that have arrived more than once. */
	readonly repeated: number
}

export async function startReceiver(): Promise<Receiver> {
	const arrived = new Map<string, number>()
	const server = createServer(async (req, res) => {
		let text = ''
		for await (const chunk of req.setEncoding('utf8')) text += chunk
		const { id } = JSON.parse(text) as { id: string }
		arrived.set(id, (arrived.get(id) ?? 0) + 1)
		res.writeHead(204).end()
	}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	atEnd(() => server.close().closeAllConnections())
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
	return {
		url,
		arrived,
		get repeated() {
			return [...arrived.values()].filter((times) => times > 1).length
		},
	}
}
