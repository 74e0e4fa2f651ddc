// The demo organization, asked as a newcomer asks it: in development, where every answer is judged by the contract.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newDatabase, settingsFor } from '../../../test/databases.ts'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { bySystem } from '../../platform/base/origin.ts'
import { operations } from '../../platform/contract/routes.ts'
import { openDatabase } from '../../platform/db/drivers/open.ts'
import { createDemo, createFirstDemo } from './demo.ts'

let server: TestServer
let key: string
beforeAll(async () => {
	server = await startTestServer({ NODE_ENV: 'development' })
	;({ key } = await createDemo(server.db, bySystem(server.clock.now)))
})
afterAll(() => server.close())

const lists = operations.filter(({ method, path, sessionOnly }) => method === 'GET' && !path.includes('{') && !sessionOnly)

it.each(lists)('the list $id of the demo organization fits the contract', async ({ path }) => {
	expect(await server.ask('GET', path, { key })).toMatchObject({ status: 200 })
})

it('no record of the demo organization was changed before it was created, and it has something to report', async () => {
	for (const path of ['companies', 'contacts', 'deals', 'invoices', 'time-entries', 'payments'])
		for (const { id, createdAt, updatedAt } of (await server.ask('GET', `/api/${path}?limit=100`, { key })).body.data)
			expect({ id, isLater: updatedAt >= createdAt }).toEqual({ id, isLater: true })
	const { currencies } = (await server.ask('GET', '/api/reports/summary', { key })).body.data
	const euros = currencies.find(({ currency }: { currency: string }) => currency === 'EUR')
	expect(euros).toMatchObject({ outstanding: { count: 2 }, overdue: { count: 1 }, drafts: { count: 1 } })
	expect(euros.paidByMonth.filter(({ cents }: { cents: number }) => cents > 0).length).toBeGreaterThan(10)
})

it('an invoice of the demo organization becomes overdue after its due day', async () => {
	const { data } = (await server.ask('GET', '/api/invoices?status=overdue', { key })).body
	for (const { id, dueDate } of data) {
		const { body } = await server.ask('GET', `/webhooks/events?resourceId=${id}&type=invoice.overdue`, { key })
		expect(body.data).toHaveLength(1)
		expect(Date.parse(body.data[0].timestamp)).toBeGreaterThanOrEqual(dueDate + 86_400_000)
	}
	expect(data).not.toEqual([])
})

it('Of servers that start at once on an empty database one makes the demo', async () => {
	const database = await newDatabase(inject('database'), inject('template'))
	const open = () => openDatabase(settingsFor(database.settings), pino({ level: 'silent' }))
	const servers = [await open(), await open(), await open()]
	const made = await Promise.all(servers.map((db) => createFirstDemo(db, bySystem(server.clock.now))))
	expect(made.filter((demo) => demo !== undefined)).toHaveLength(1)
	for (const db of servers) await db.close()
	await database.drop()
})
