// Stands in front of a server, and fails once for each caller: it loses the answer to the first company, and answers 503 to the first
// invoice.
import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FarEnd {
	readonly url: string
	/** The server that it stands in front of. */
	to(server: string): void
	/** Fails again. */
	arm(): void
	/** How often it failed since. */
	failed(): number
	close(): void
}

export async function farEnd(pages: Readonly<Record<string, [type: string, text: string]>>): Promise<FarEnd> {
	const failures = new Map<string, (response: ServerResponse) => void>()
	let target = ''
	let failed = 0
	const arm = () => {
		failed = 0
		failures.set('POST /api/companies', (response) => response.destroy())
		failures.set('POST /api/invoices', (response) => response.writeHead(503, { 'Retry-After': '0' }).end())
	}
	const server = createServer((req, res) => {
		const page = pages[req.url ?? '']
		if (page) return void res.writeHead(200, { 'Content-Type': page[0] }).end(page[1])
		const name = `${req.method} ${req.url}`
		const failure = failures.get(name)
		failures.delete(name)
		const onward = request(target + req.url, { method: req.method, headers: req.headers }, (answer) => {
			if (failure) {
				failed++
				answer.resume()
				return failure(res)
			}
			res.writeHead(answer.statusCode ?? 502, answer.headers)
			answer.pipe(res)
		})
		onward.on('error', () => res.destroy())
		req.pipe(onward)
	}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	const { port } = server.address() as AddressInfo
	return {
		url: `http://127.0.0.1:${port}`,
		to(server) {
			target = server
		},
		arm,
		failed: () => failed,
		close() {
			server.close()
			server.closeAllConnections()
		},
	}
}
