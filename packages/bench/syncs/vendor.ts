// The API of a provider that lists companies, as fast as it can: its pages are made before anybody asks.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../resources.ts'

const pageSize = 100

const beganAt = Date.UTC(2026, 0, 1)

const company = (n: number) => ({
	id: `ext_${n}`,
	name: `Company ${n} Ltd`,
	domain: `company-${n}.example`,
	phone: `+44 20 7946 ${String(n).padStart(6, '0')}`,
	address: { street: `${n} High Street`, city: 'London', country: 'GB' },
	owner: { id: `own_${n % 50}`, name: 'Somebody' },
	updatedAt: new Date(beganAt + n * 10_000).toISOString(),
})

export interface Vendor {
	readonly url: string
	/** Bytes of all answers so far. */
	bytes(): number
}

/** `/companies?page=` has the pages from 1; with `since` only what changed then or later. */
export async function startVendor(count: number): Promise<Vendor> {
	const pages: Buffer[] = []
	for (let from = 0; from < count; from += pageSize)
		pages.push(
			Buffer.from(
				JSON.stringify({ items: Array.from({ length: Math.min(pageSize, count - from) }, (_, n) => company(from + n)) }),
			),
		)
	const empty = Buffer.from('{"items":[]}')
	let bytes = 0
	const server = createServer((req, res) => {
		const { searchParams } = new URL(req.url ?? '', 'http://vendor')
		const since = searchParams.get('since')
		const first = since === null ? 0 : Math.max(0, Math.ceil((Date.parse(since) - beganAt) / 10_000))
		const page = Math.floor(first / pageSize) + Number(searchParams.get('page') ?? 1) - 1
		const body = pages[page] ?? empty
		bytes += body.length
		res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	atEnd(() => {
		server.closeAllConnections()
		server.close()
	})
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bytes: () => bytes }
}
