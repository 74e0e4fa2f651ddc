// After any sequence of changes the ledger adds up, and an invoice reads as its last caller wrote it.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { expectBalanced } from '../../../test/ledger.ts'
import { step, take } from '../../../test/ledger-steps.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
afterAll(() => server.close())

it('Whatever is written, paid, reported, reversed, cancelled and deleted: the ledger adds up', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
			const tenant = await server.newTenant()
			const ids: string[] = []
			for (const totalCents of [500, 300, 0])
				ids.push((await tenant.ask('POST', '/api/invoices', { body: { totalCents, status: 'sent' } })).body.id)
			for (const each of steps) {
				server.clock.now += 1
				await take(server, tenant, ids, each)
				await expectBalanced(server.db, tenant.organizationId)
			}
		}),
		{ numRuns: 12 },
	)
})

it('Payments and changes of the same invoices at the same time leave a ledger that adds up', async () => {
	const tenant = await server.newTenant()
	const post = async (path: string, body: object) => (await tenant.ask('POST', path, { body })).body.id as string
	const [a, b] = [await post('/api/invoices', { totalCents: 5_000 }), await post('/api/invoices', { totalCents: 5_000 })]
	const both = [
		[a, b],
		[b, a],
	].map((ids) => ids.map((invoiceId) => ({ invoiceId, amountCents: 100 })))
	const paid = Array.from({ length: 20 }, (_, n) => post('/api/payments', { amountCents: 200, allocations: both[n % 2] }))
	const ids = await Promise.all(paid)
	await Promise.all([
		...ids.slice(0, 8).map((id) => tenant.ask('POST', `/api/payments/${id}/reverse`)),
		...ids.slice(8, 12).map((id) => tenant.ask('DELETE', `/api/payments/${id}/allocations`)),
		tenant.ask('PATCH', `/api/invoices/${a}`, { body: { totalCents: 500 } }),
		tenant.ask('PATCH', `/api/invoices/${b}`, { body: { status: 'paid' } }),
		...ids.slice(8, 12).map((id) => tenant.ask('POST', `/api/payments/${id}/allocations`, { body: { allocations: both[0] } })),
	])
	await expectBalanced(server.db, tenant.organizationId)
	const { data } = (await tenant.ask('GET', `/api/invoices/${b}`)).body
	expect(data.status).toBe('paid')
})
