// Checks, before the measurements, that every rival gives the same answers as Remit and rejects a wrong key.
import { isDeepStrictEqual } from 'node:util'
import { createLoad, getLoad, listLoad, searchLoad } from './loads.ts'
import type { Server } from './processes.ts'
import type { Seed } from './seed.ts'

const gets = 60

/** Throws when a rival's answer differs from Remit's. Creates one invoice on each server. */
export async function verifyAnswers(servers: readonly Server[], seed: Seed): Promise<void> {
	const [remit, ...rivals] = servers as [Server, ...Server[]]
	const reads = [...getLoad(seed).paths.slice(0, gets), ...new Set(listLoad.paths), ...searchLoad.paths]
	for (const path of reads) {
		const expected = await ask(remit, path, seed.key)
		for (const rival of rivals) compare(`${rival.name}: GET ${path}`, await ask(rival, path, seed.key), expected)
	}
	const expected = await created(remit, seed.key)
	for (const rival of rivals) compare(`${rival.name}: what it created`, await created(rival, seed.key), expected)
	for (const server of servers) {
		const { status } = await ask(server, reads[0] as string, `${seed.key.slice(0, -1)}_`)
		if (status !== 401) throw new Error(`${server.name} answers ${status} to a wrong key`)
	}
}

interface Answer {
	readonly status: number
	readonly body: unknown
}

async function ask({ url }: Server, path: string, key: string, init: RequestInit = {}): Promise<Answer> {
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
	const response = await fetch(url + path, { ...init, headers })
	const body = (await response.json()) as { meta?: object }
	// Cursors are Remit's own: it signs them.
	return { status: response.status, body: body.meta ? { ...body, meta: { ...body.meta, nextCursor: null } } : body }
}

/** Creates an invoice and reads it, without the fields that differ between servers: id and times. */
async function created(server: Server, key: string): Promise<unknown> {
	const { status, body } = await ask(server, '/api/invoices', key, { method: 'POST', body: createLoad.body })
	const { id, ...rest } = body as { id: string }
	const read = (await ask(server, `/api/invoices/${id}`, key)).body as { data: Record<string, unknown> }
	const { id: readId, createdAt: _createdAt, updatedAt: _updatedAt, ...invoice } = read.data
	return { status, rest, isSame: readId === id, invoice }
}

function compare(what: string, answer: unknown, expected: unknown): void {
	if (isDeepStrictEqual(answer, expected)) return
	const show = (value: unknown) => JSON.stringify(value).slice(0, 2_000)
	throw new Error(`${what} is not what Remit answers.\n  it:    ${show(answer)}\n  Remit: ${show(expected)}`)
}
