// After any sequence of changes the ledger adds up, and an invoice reads as its last caller wrote it.
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../test/harness.ts'
import { expectBalanced } from '../../test/ledger.ts'
import { linksOf } from '../../test/payments.ts'
import { bySystem } from '../base/origin.ts'
import type { Payment } from '../generated/contract.ts'
import { receivePayment } from '../invoices/payments/receive.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
afterAll(() => server.close())

const log = pino({ level: 'silent' })
const cents = fc.integer({ min: 1, max: 900 })
const which = fc.integer({ min: 0, max: 2 })
const status = fc.constantFrom('draft', 'sent', 'paid', 'overdue', 'cancelled')
const body = fc.oneof(
	{ weight: 3, arbitrary: fc.record({ status }) },
	{ weight: 2, arbitrary: fc.record({ totalCents: fc.integer({ min: -300, max: 900 }) }) },
	fc.record({ status, totalCents: fc.integer({ min: -300, max: 900 }) }),
	fc.record({ lineItems: fc.array(fc.record({ unitPriceCents: fc.integer({ min: -200, max: 500 }) }), { maxLength: 2 }) }),
	fc.record({ currency: fc.constantFrom('USD', 'EUR') }),
	fc.record({ paymentMethod: fc.constantFrom('cash', null), paidDate: fc.constantFrom('2026-01-02', null) }),
)
const step = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ do: fc.constant('patch' as const), which, body }) },
	{ weight: 3, arbitrary: fc.record({ do: fc.constant('pay' as const), which, cents }) },
	fc.record({ do: fc.constant('paySeveral' as const), which, cents }),
	fc.record({ do: fc.constant('allocate' as const), which, cents }),
	fc.record({ do: fc.constant('release' as const), which, cents }),
	fc.record({ do: fc.constant('reverse' as const), which, cents }),
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('webhook' as const), which, cents }) },
	fc.record({ do: fc.constant('delete' as const), which, cents }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Does a step; it may be refused, but never with a 5xx. */
async function take(tenant: Tenant, ids: string[], step: Step): Promise<void> {
	const invoiceId = ids[step.which] as string
	const ask = async (method: string, path: string, body?: object) => {
		const answer = await tenant.ask(method, path, { body })
		expect([200, 201, 404, 409, 422]).toContain(answer.status)
		return answer.body
	}
	const all: Payment[] = (await ask('GET', '/api/payments?limit=100')).data
	const payment = 'cents' in step ? all[step.cents % Math.max(1, all.length)] : undefined
	const other = ids[(step.which + 1) % ids.length] as string
	if (step.do === 'patch') {
		const path = `/api/invoices/${invoiceId}`
		const answer = await ask('PATCH', path, step.body)
		const wrote = 'status' in step.body ? { status: step.body.status } : {}
		if (answer.ok) expect((await ask('GET', path)).data).toMatchObject(wrote)
	} else if (step.do === 'pay') await ask('POST', '/api/payments', { invoiceId, amountCents: step.cents, method: 'card' })
	else if (step.do === 'paySeveral') {
		const allocations = [invoiceId, other].map((id, n) => ({ invoiceId: id, amountCents: 1 + Math.floor((step.cents * n) / 3) }))
		await ask('POST', '/api/payments', { amountCents: step.cents + 1, allocations })
	} else if (step.do === 'webhook') await deliver(tenant, invoiceId, step.cents)
	else if (step.do === 'delete') {
		await ask('DELETE', `/api/invoices/${invoiceId}`)
		ids[step.which] = (await ask('POST', '/api/invoices', { totalCents: step.cents })).id
	} else if (payment && step.do === 'allocate')
		await ask('POST', `/api/payments/${payment.id}/allocations`, {
			allocations: [{ invoiceId, amountCents: step.cents % 50 || 1 }],
		})
	else if (payment && step.do === 'release') await ask('DELETE', `/api/payments/${payment.id}/allocations?invoiceId=${invoiceId}`)
	else if (payment && step.do === 'reverse') await ask('POST', `/api/payments/${payment.id}/reverse`)
}

/** Another amount than the link was for, and twice. */
async function deliver(tenant: Tenant, invoiceId: string, amountCents: number): Promise<void> {
	await tenant.ask('POST', `/api/invoices/${invoiceId}/payment-link`)
	const link = (await linksOf(server.db, tenant, invoiceId)).find(({ status }) => status !== 'paid')
	if (!link) return
	const { organizationId, id: linkId, externalId, currency } = link
	const of = { eventId: `evt_${linkId}`, organizationId, invoiceId, linkId, externalId }
	const money = { amountCents, currency, method: 'card', reference: 'R', paidAt: server.clock.now }
	for (const eventId of [of.eventId, `${of.eventId}_2`])
		await receivePayment(server.db, log, 'test', { ...of, eventId, ...money }, bySystem(server.clock.now))
}

it('Whatever is written, paid, reported, reversed, cancelled and deleted: the ledger adds up', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
			const tenant = await server.newTenant()
			const ids: string[] = []
			for (const totalCents of [500, 300, 0])
				ids.push((await tenant.ask('POST', '/api/invoices', { body: { totalCents, status: 'sent' } })).body.id)
			for (const each of steps) {
				server.clock.now += 1
				await take(tenant, ids, each)
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
