// What a change costs on PostgreSQL beside its work: the trips between server and database, during which it holds its locks.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createInvoiceOfTime } from '../src/billing/invoices/from-time-entries.ts'
import { createInvoice } from '../src/billing/invoices/write.ts'
import { readConfig } from '../src/config.ts'
import type { Database } from '../src/platform/db/database.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import type { WriteContext } from '../src/platform/db/write-context.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'

let server: TestServer
let tenant: Tenant
let proxy: DatabaseProxy
let db: Database
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
	proxy = await new DatabaseProxy(server.settings.DATABASE_URL as string).listen()
	db = await openDatabase({ ...readConfig({}), ...server.settings, DATABASE_URL: proxy.url }, pino({ level: 'silent' }))
})
afterAll(async () => {
	await db.close()
	proxy.cut()
	await server.close()
})

/** The fewest of some tries: connections and plans are made in the first, and the proxy may see one packet as two. */
async function fewestTrips(works: ((write: WriteContext) => Promise<unknown>)[]): Promise<number> {
	const trips: number[] = []
	for (const work of works) {
		const before = proxy.trips
		await db.transaction((tx) => work(tenant.writing(tx)))
		trips.push(proxy.trips - before)
	}
	return Math.min(...trips)
}

it('A new invoice takes three trips', async () => {
	const create = (write: WriteContext) =>
		createInvoice(write, {
			currency: 'EUR',
			taxRate: 19,
			lineItems: [{ description: 'Work', quantity: '1', unitPriceCents: 100 }],
		})
	expect(await fewestTrips(Array(5).fill(create))).toBe(3)
})

it('An invoice from 100 time entries takes no trip for each', async () => {
	const dealId = await tenant.newDeal({ currency: 'EUR' })
	const works = []
	for (let n = 0; n < 5; n++) {
		const timeEntryIds = await Promise.all(Array.from({ length: 100 }, () => tenant.newTimeEntry({ dealId })))
		works.push((write: WriteContext) => createInvoiceOfTime(write, { dealId, timeEntryIds }))
	}
	expect(await fewestTrips(works)).toBeLessThanOrEqual(11)
})
