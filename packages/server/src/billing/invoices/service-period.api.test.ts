// When the goods or services of an invoice, and of each of its lines, were supplied.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const march = { periodStart: '2026-03-01', periodEnd: '2026-03-31' }
const inMs = { periodStart: Date.UTC(2026, 2, 1), periodEnd: Date.UTC(2026, 2, 31) }
const none = { periodStart: null, periodEnd: null }

it('is kept by the invoice and by its lines, and null clears it', async () => {
	const { invoices } = server.remit
	const { id } = await invoices.create({ ...march, lineItems: [{ description: 'Hosting', ...march }, { description: 'Setup' }] })
	const stored = await invoices.get(id)
	expect(stored).toMatchObject({ ...inMs, lineItems: [inMs, none] })
	const [hosting, setup] = stored.lineItems.map((line) => line.id)
	await invoices.update(id, {
		periodEnd: null,
		lineItems: [
			{ id: hosting as string, description: 'Hosting in March' },
			{ id: setup as string, ...march },
		],
	})
	const changed = await invoices.get(id)
	expect(changed).toMatchObject({ ...inMs, periodEnd: null, lineItems: [inMs, inMs] })
	expect((await server.ask('POST', '/api/invoices/preview', { body: { lineItems: [march] } })).body.data.lineItems).toMatchObject(
		[inMs],
	)
})

it('is shown to the client', async () => {
	const { invoices } = server.remit
	const { id } = await invoices.create({ ...march, lineItems: [march] })
	const { url } = await invoices.clientLink.create(id)
	const { data } = (await server.ask('GET', `/api/invoices/public/${url.split('/').at(-1)}`, { key: null })).body
	expect(data).toMatchObject({ ...inMs, lineItems: [inMs] })
})

it.each([
	['of the invoice', { periodStart: '2026-03-02', periodEnd: '2026-03-01' }, '/periodEnd'],
	['of a line', { lineItems: [{}, { periodStart: '2026-03-02', periodEnd: '2026-03-01' }] }, '/lineItems/1/periodEnd'],
])('%s that ends before it begins is 422 at its place', async (_, body, pointer) => {
	const answer = await server.ask('POST', '/api/invoices', { body })
	expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_period', errors: [{ pointer }] } })
})
