// Loaded into a server before its own code (`node --import`): prints, for each request that writes, the longest time that the
// process spent in one go, in milliseconds of CPU, while the request was under way.
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

const cpuMs = () => {
	const { user, system } = process.threadCpuUsage()
	return (user + system) / 1_000
}

let underWay = false
let longest = 0

function watch(before: number): void {
	const now = cpuMs()
	longest = Math.max(longest, now - before)
	if (underWay) setImmediate(watch, now)
	else process.stdout.write(`longest hold: ${longest.toFixed(1)} ms\n`)
}

subscribe('http.server.request.start', (message) => {
	if ((message as { request: IncomingMessage }).request.method === 'GET') return
	underWay = true
	longest = 0
	setImmediate(watch, cpuMs())
})
subscribe('http.server.response.finish', () => {
	underWay = false
})
