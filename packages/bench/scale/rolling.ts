// Restarts every server in turn, as an upgrade does, while clients write and read.
import { setTimeout as sleep } from 'node:timers/promises'
import { drive, type Load } from '../load.ts'
import { check, table, title } from '../report.ts'
import { audit } from './audit.ts'
import { Clients } from './clients.ts'
import type { Receiver } from './receiver.ts'
import { apis, type Stack, servers } from './stack.ts'

/** GETs beside the clients, as fast as they are answered. */
const pace = { connections: 10, seconds: 15 }

export async function rolling(stack: Stack, keys: readonly string[], receiver: Receiver, gets: Load): Promise<void> {
	const clients = new Clients(stack.url, keys)
	clients.begin()
	await sleep(2_000)
	const driving = drive(stack.url, '', gets, pace)
	const began = performance.now()
	for (const name of servers) {
		await stack.parts.stop(name)
		await stack.parts.restart(name)
		await stack.isSeen(apis.length)
	}
	const seconds = (performance.now() - began) / 1_000
	const driven = await driving
	await clients.end()
	const { lost, doubled, numbers, undelivered } = await audit(stack.databaseUrl(), clients, receiver)
	const { oldReads } = clients
	const requests = clients.requests + driven.requests
	const failed = clients.failed.length + driven.failed
	const wrong = failed + oldReads + lost + doubled + numbers + undelivered
	title('Each server is restarted in turn, under load')
	const figures = [requests, failed, lost, doubled, oldReads, numbers, undelivered].map(String)
	const headings = ['requests', 'failed', 'lost', 'doubled', 'old reads', 'wrong numbers', 'events not delivered']
	const mark = check(`rolling restart: ${failed} requests failed (${clients.failed.map(({ why }) => why)})`, wrong === 0)
	table(['', 'seconds', ...headings, ''], [[`${servers.length} servers`, seconds.toFixed(0), ...figures, mark]])
}
