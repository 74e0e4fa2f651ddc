// A time entry is on one invoice at most, even when the server is killed while it invoices.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newDatabase, settingsFor, type TestDatabase } from '../../../test/databases.ts'
import { eventsOf } from '../../../test/events.ts'
import { Remit, type Served } from '../../../test/remit.ts'
import type { Invoice, TimeEntry } from '../../generated/contract.ts'
import { openDatabase } from '../../platform/db/drivers/open.ts'

describe('a server that is killed while it invoices time', () => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-claims-'))
	let database: TestDatabase
	let remit: Remit
	beforeAll(async () => {
		database = await newDatabase(inject('database'), inject('template'))
		const { DATABASE_URL, DATA_DIR } = database.settings
		remit = new Remit(DATABASE_URL ? { DATABASE_URL } : { DATA_DIR }, folder)
	})
	afterAll(async () => {
		remit.stop()
		await database.drop()
		rmSync(folder, { recursive: true, force: true })
	})

	// biome-ignore lint/suspicious/noExplicitAny: records of several kinds.
	type Ask = (method: string, path: string, body?: object) => Promise<any>

	/** A function that asks the server with this key. */
	const asker = (url: string, key: string): Ask => {
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
		return async (method, path, body) =>
			(await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json()
	}

	/** Pairs of entries, on three deals. */
	async function pairs(ask: Ask, count: number) {
		const deals = await Promise.all([1, 2, 3].map(() => ask('POST', '/api/deals', { name: 'Deal', hourlyRateCents: 100 })))
		const pair = async (_: unknown, index: number) => {
			const { id } = deals[index % deals.length]
			const entries = [60, 61].map((durationSeconds) => ask('POST', '/api/time-entries', { dealId: id, durationSeconds }))
			return { dealId: id, timeEntryIds: (await Promise.all(entries)).map((entry) => entry.id) }
		}
		return Promise.all(Array.from({ length: count }, pair))
	}

	/** Six clients create invoices until the server is killed; returns the ids that were answered. */
	async function invoiceUntilKilled({ end }: Served, ask: Ask, bodies: object[]): Promise<string[]> {
		const answered: string[] = []
		const killed = Promise.withResolvers<unknown>()
		const client = async () => {
			for (let body = bodies.pop(); body; body = bodies.pop()) {
				answered.push((await ask('POST', '/api/invoices/from-time-entries', body)).id)
				if (answered.length === 20) killed.resolve(end('SIGKILL'))
			}
		}
		await Promise.allSettled(Array.from({ length: 6 }, client))
		await killed.promise
		return answered
	}

	it('leaves every entry open, or on one invoice whose lines name it; numbers and events have no gap', async () => {
		const { organizationId } = await remit.json(['organizations', 'create', '--name', 'Killed Ltd'])
		const { key } = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])
		const first = await remit.serve({ INVOICING_RATE_LIMIT: '0' })
		const before = asker(first.url, key)
		const answered = await invoiceUntilKilled(first, before, await pairs(before, 50))

		const second = await remit.serve({ INVOICING_RATE_LIMIT: '0' })
		const after = asker(second.url, key)
		const invoices: Invoice[] = (await after('GET', '/api/invoices?limit=100')).data
		const entries: TimeEntry[] = (await after('GET', '/api/time-entries?limit=100')).data
		expect(entries).toHaveLength(100)
		expect(invoices.length).toBeLessThan(50)
		expect(invoices.map(({ id }) => id)).toEqual(expect.arrayContaining(answered))
		const named = invoices.flatMap(({ id, lineItems }) =>
			lineItems.flatMap(({ timeEntryIds }) => timeEntryIds.map((entry) => `${entry} ${id}`)),
		)
		const held = entries.flatMap(({ id, status, invoiceId }) => (status === 'invoiced' ? `${id} ${invoiceId}` : []))
		expect(held.toSorted()).toEqual(named.toSorted())
		expect(named).toHaveLength(2 * invoices.length)
		const { id: next } = await after('POST', '/api/invoices')
		const numbers = [...invoices, (await after('GET', `/api/invoices/${next}`)).data].map(({ invoiceNumber }) => invoiceNumber)
		expect(numbers.toSorted()).toEqual(numbers.map((_, index) => `INV-${String(index + 1).padStart(4, '0')}`))
		await second.end('SIGTERM')

		const db = await openDatabase(settingsFor(database.settings), pino({ level: 'silent' }))
		const events = await eventsOf({ db }, { organizationId }).finally(() => db.close())
		const of = (type: string) => events.filter((event) => event.type === type).map(({ resourceId }) => resourceId)
		expect(of('invoice.created').toSorted()).toEqual([...invoices.map(({ id }) => id), next].toSorted())
		expect(of('time_entry.updated').toSorted()).toEqual(held.map((pair) => pair.split(' ')[0]).toSorted())
	})
})
