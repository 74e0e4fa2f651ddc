// Receives the measured webhooks: bare node:http in a process of its own. By its port it answers 204 as fast as it can, 500, 503
// with a `Retry-After`, or never. It tells its parent when the requested number of webhooks got a 204 (see receiver.ts).
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nowMs, type SinkMessage, type SinkRequest } from './receiver.ts'

let arrived = 0
let awaited: number[] = []

const send = (message: SinkMessage) => process.send?.(message)

process.on('message', ({ counts }: SinkRequest) => {
	if (counts) {
		arrived = 0
		awaited = [...counts]
	}
	send({ arrived })
})
process.on('disconnect', () => process.exit())

async function listen(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
	const server = createServer({ keepAliveTimeout: 65_000 }, answer)
	server.listen(0, '127.0.0.1', 4_096)
	await once(server, 'listening')
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

const answering = (status: number, count: () => void, headers = {}) =>
	listen((req, res) => {
		req.resume().on('end', () => {
			count()
			res.writeHead(status, headers).end()
		})
	})

const healthy = await answering(204, () => {
	arrived++
	if (arrived === awaited[0]) send({ count: awaited.shift() as number, at: nowMs() })
})
const failing = await answering(500, () => {})
const pausing = await answering(503, () => {}, { 'retry-after': '36000' })
const hung = await listen((req) => req.resume())
send({ urls: { healthy, failing, pausing, hung } })
