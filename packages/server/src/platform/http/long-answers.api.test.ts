// Answers that are too long to hold: sent in parts, whole or visibly broken, and with little memory for callers who do not read.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'

let server: TestServer
/** Newest first; each has some 500 KB, so that the system's buffers take only some of them. */
const ids: string[] = []
const lineItems = Array.from({ length: 400 }, (_, line) => ({ description: `${line} é `.padEnd(1_000, 'x'), unitPriceCents: 1 }))
beforeAll(async () => {
	server = await startTestServer({ ANSWER_TIMEOUT_SECONDS: 1 })
	for (let n = 0; n < 12; n++) {
		server.clock.now++
		ids.unshift((await server.remit.invoices.create({ lineItems })).id)
	}
})
afterAll(() => server.close())

const path = '/api/invoices?limit=100'

/** Asks for the invoices over a socket that reads nothing until it is resumed. */
async function askOnly(version = '1.1'): Promise<Socket> {
	const { hostname, port } = new URL(server.url)
	const socket = connect({ host: hostname, port: Number(port) }).pause()
	await once(socket, 'connect')
	socket.write(`GET ${path} HTTP/${version}\r\nHost: remit\r\nConnection: close\r\nAuthorization: Bearer ${server.key}\r\n\r\n`)
	await once(socket, 'readable')
	return socket
}

/** Reads on to the end; the body without the sizes of its chunks, and whether it is whole. */
async function readOn(socket: Socket, wait = 0) {
	let text = ''
	const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
	socket.setEncoding('utf8')
	socket.on('data', (part) => {
		text += part
		if (wait > 0) pause(wait, socket.pause()).then((paused) => paused.resume())
	})
	await closed
	const isWhole = text.endsWith('\r\n0\r\n\r\n')
	return { isWhole, errored: socket.errored, text: text.slice(text.indexOf('\r\n\r\n')).replaceAll(/\r\n[0-9a-f]+\r\n/g, '') }
}

describe('a long list', () => {
	it.each([
		['invoices', path, '/api/invoices'],
		['events', '/webhooks/events?limit=100', '/webhooks/events'],
	])('of %s has every record as GET answers it, in order', async (_, list, one) => {
		const { status, headers, body } = await server.ask('GET', list)
		expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
		expect(headers.get('content-length')).toBeNull()
		const listed = body.data.map(({ id, resource }: { id: string; resource?: { id: string } }) => resource?.id ?? id)
		expect(listed).toEqual(list === path ? ids : ids.toReversed())
		expect(body.data[1]).toEqual((await server.ask('GET', `${one}/${body.data[1].id}`)).body.data)
	})

	it('goes on by cursor and counts as a short one does', async () => {
		const first = (await server.ask('GET', '/webhooks/events?limit=9')).body
		expect(first.meta).toMatchObject({ total: 12, limit: 9, offset: 0 })
		const rest = (await server.ask('GET', `/webhooks/events?cursor=${first.meta.nextCursor}`)).body
		expect([first.data.length, rest.data.length]).toEqual([9, 3])
	})

	it('is answered to HEAD without being read', async () => {
		const { status, headers, bytes } = await server.ask('HEAD', path)
		expect([status, headers.get('content-type'), bytes.length]).toEqual([200, 'application/json; charset=utf-8', 0])
	})

	it('leaves the short pages of its organization in one piece', async () => {
		const { id } = await server.remit.invoices.create({ notes: 'short', dealId: await server.newDeal() })
		const { dealId } = (await server.ask('GET', `/api/invoices/${id}`)).body.data
		const { headers, body } = await server.ask('GET', `/api/invoices?dealId=${dealId}`)
		expect(body.data).toMatchObject([{ id, notes: 'short' }])
		expect(Number(headers.get('content-length'))).toBeGreaterThan(500)
		await server.remit.invoices.delete(id)
	})

	it('leaves out a record that is deleted before its turn', async () => {
		const socket = await askOnly()
		await server.remit.invoices.delete(ids.pop() as string)
		const { isWhole, text } = await readOn(socket)
		expect(isWhole).toBe(true)
		expect(JSON.parse(text).data.map(({ id }: { id: string }) => id)).toEqual(ids)
	})

	it.each(['1.0', '1.1'])('that fails on the way is broken off, so that it does not look whole (HTTP/%s)', async (version) => {
		const socket = await askOnly(version)
		await renameTable('invoices', 'invoices_away')
		const { isWhole, errored } = await readOn(socket)
		await renameTable('invoices_away', 'invoices')
		expect([isWhole, errored]).toEqual([false, expect.objectContaining({ code: 'ECONNRESET' })])
	})

	it('costs little memory for callers who do not read it, and they are ended; one who reads slowly gets all', async () => {
		const { sockets, stop } = collectConnections()
		const callers = await Promise.all(Array.from({ length: 8 }, () => askOnly()))
		const stuck = [...sockets]
		const ended = Promise.all(stuck.map((socket) => once(socket, 'close')))
		const slow = readOn(await askOnly(), 30)
		stop()
		// What waits for a caller is one record, at most, and not the 6 MB of the list.
		for (const { writableLength } of stuck) expect(writableLength).toBeLessThan(1_000_000)
		await ended
		const answers = await Promise.all(callers.map((socket) => readOn(socket)))
		expect(answers.filter(({ isWhole }) => isWhole)).toEqual([])
		expect((await slow).isWhole).toBe(true)
	})
})

/** The server's ends of connections, as they are made. */
function collectConnections() {
	const sockets = new Set<Socket>()
	const add = (message: unknown) => sockets.add((message as { socket: Socket }).socket)
	subscribe('net.server.socket', add)
	return { sockets, stop: () => unsubscribe('net.server.socket', add) }
}

async function renameTable(from: string, to: string): Promise<void> {
	const sql = `alter table ${from} rename to ${to}`
	if (server.settings.DATABASE_URL) {
		const client = new pg.Client(server.settings.DATABASE_URL)
		await client.connect()
		await client.query(sql)
		return client.end()
	}
	const file = new Sqlite(join(server.settings.DATA_DIR as string, 'remit.db'))
	file.exec(sql)
	file.close()
}
