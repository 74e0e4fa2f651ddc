// Random changes of the money of three invoices: for the tests of what must be true after any of them.
import fc from 'fast-check'
import { pino } from 'pino'
import { expect } from 'vitest'
import { receivePayment } from '../src/billing/payment-links/receive.ts'
import type { Payment } from '../src/generated/contract.ts'
import { bySystem } from '../src/platform/base/origin.ts'
import type { Tenant, TestServer } from './harness.ts'
import { linksOf } from './payments.ts'

const log = pino({ level: 'silent' })
/** Near the ends of days and months, in any time zone. */
const date = fc
	.tuple(fc.constantFrom('2025-01-01', '2025-12-31', '2026-01-01', '2026-02-28', '2026-03-01'), fc.integer({ min: -30, max: 30 }))
	.map(([day, hours]) => (hours % 3 === 0 ? day : Date.parse(day) + hours * 3_000_001))
const cents = fc.integer({ min: 1, max: 900 })
const which = fc.integer({ min: 0, max: 2 })
const status = fc.constantFrom('draft', 'sent', 'paid', 'overdue', 'cancelled')
const body = fc.oneof(
	{ weight: 3, arbitrary: fc.record({ status }) },
	{ weight: 2, arbitrary: fc.record({ totalCents: fc.integer({ min: -300, max: 900 }) }) },
	fc.record({ status, totalCents: fc.integer({ min: -300, max: 900 }) }),
	fc.record({ lineItems: fc.array(fc.record({ unitPriceCents: fc.integer({ min: -200, max: 500 }) }), { maxLength: 2 }) }),
	fc.record({ currency: fc.constantFrom('USD', 'EUR') }),
	fc.record({ paymentMethod: fc.constantFrom('cash', null), paidDate: fc.oneof(date, fc.constant(null)) }),
	fc.record({ status, dueDate: fc.oneof(date, fc.constant(null)) }),
)
/** One change. */
export const step = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ do: fc.constant('patch' as const), which, body }) },
	{ weight: 3, arbitrary: fc.record({ do: fc.constant('pay' as const), which, cents, paidAt: date }) },
	fc.record({ do: fc.constant('paySeveral' as const), which, cents }),
	fc.record({ do: fc.constant('allocate' as const), which, cents }),
	fc.record({ do: fc.constant('release' as const), which, cents }),
	fc.record({ do: fc.constant('reverse' as const), which, cents }),
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('webhook' as const), which, cents }) },
	fc.record({ do: fc.constant('delete' as const), which, cents }),
)
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Does a step to the invoices with these ids; it may be refused, but never with a 5xx. */
export async function take(server: TestServer, tenant: Tenant, ids: string[], step: Step): Promise<void> {
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
		const before = (await ask('GET', path)).data
		const answer = await ask('PATCH', path, step.body)
		const after = (await ask('GET', path)).data
		const isSettled = before.amountDueCents > 0 && after.amountDueCents === 0 && after.amountPaidCents > 0
		if (answer.ok && 'status' in step.body) expect(after.status).toBe(step.body.status)
		else if (isSettled) expect(after.status).toBe('paid')
	} else if (step.do === 'pay') {
		const { cents: amountCents, paidAt } = step
		await ask('POST', '/api/payments', { invoiceId, amountCents, paidAt, method: 'card' })
	} else if (step.do === 'paySeveral') {
		const allocations = [invoiceId, other].map((id, n) => ({ invoiceId: id, amountCents: 1 + Math.floor((step.cents * n) / 3) }))
		await ask('POST', '/api/payments', { amountCents: step.cents + 1, allocations })
	} else if (step.do === 'webhook') await deliver(server, tenant, invoiceId, step.cents)
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
async function deliver(server: TestServer, tenant: Tenant, invoiceId: string, amountCents: number): Promise<void> {
	await tenant.ask('POST', `/api/invoices/${invoiceId}/payment-link`)
	const link = (await linksOf(server.db, tenant, invoiceId)).find(({ status }) => status !== 'paid')
	if (!link) return
	const { organizationId, id: linkId, externalId, currency } = link
	const of = { eventId: `evt_${linkId}`, organizationId, invoiceId, linkId, externalId }
	const money = { amountCents, currency, method: 'card', reference: 'R', paidAt: server.clock.now }
	for (const eventId of [of.eventId, `${of.eventId}_2`])
		await receivePayment(server.db, log, 'test', { ...of, eventId, ...money }, bySystem(server.clock.now))
}
