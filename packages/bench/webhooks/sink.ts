// The far end of the webhooks that are measured: bare node:http in a process of its own, which answers 204 as fast as it can,
// 500, 503 with a request to pause, or never. It tells its parent when so many have arrived where they are answered (see receiver.ts).
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Asked, nowMs, type Said } from './receiver.ts'

let arrived = 0
let awaited: number[] = []

const say = (said: Said) => process.send?.(said)

process.on('message', ({ counts }: Asked) => {
	if (counts) {
		arrived = 0
		awaited = [...counts]
	}
	say({ arrived })
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
	if (arrived === awaited[0]) say({ count: awaited.shift() as number, at: nowMs() })
})
const failing = await answering(500, () => {})
const pausing = await answering(503, () => {}, { 'retry-after': '36000' })
const hung = await listen((req) => req.resume())
say({ urls: { healthy, failing, pausing, hung } })
