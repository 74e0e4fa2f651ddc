// From a change to the events that a subscribed endpoint gets.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { Sink } from '../../../test/sink.ts'

let server: TestServer
let tenant: Tenant
let sink: Sink
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	sink = await new Sink().start()
	return () => sink.stop()
})
afterAll(() => server.close())

const subscribe = (...eventTypes: string[]) => sink.subscribe(tenant.remit, ...eventTypes)

describe('an endpoint', () => {
	it('gets every event that it subscribes to, as the feed has it, signed for three libraries', async () => {
		await subscribe('invoice.*', 'company.created')
		const { id } = await tenant.remit.invoices.create({ totalCents: 500 })
		await tenant.remit.companies.create({ name: 'Zoë & Söhne 株式会社 🧾' })
		await tenant.remit.invoices.update(id, { status: 'paid' })
		const events = await sink.events(4)
		const feed = []
		for await (const event of tenant.remit.webhooks.events.list()) feed.push(event)
		expect(events.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(feed.toSorted((a, b) => a.id.localeCompare(b.id)))
		const ofInvoice = events.filter(({ resource }) => resource.id === id)
		expect(ofInvoice.map(({ type, sequence }) => `${sequence} ${type}`)).toEqual([
			'1 invoice.created',
			'2 invoice.updated',
			'3 invoice.paid',
		])
		expect(ofInvoice.at(-1)?.data).toEqual(await tenant.remit.invoices.get(id))
		expect(sink.problems).toEqual([])
	})
})
