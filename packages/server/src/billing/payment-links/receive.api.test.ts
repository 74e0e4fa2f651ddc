// A payment that Stripe reports is in the ledger once, and applied to its invoice as far as that owes it, if Stripe signed the report.
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import { expectBalanced } from '../../../test/ledger.ts'
import {
	askForLink,
	closed,
	eventsOfPayments,
	linksOf,
	paidAtStripe,
	patchInvoice,
	paymentsOf,
	post,
	readInvoice,
	type StripeServer,
	startWithStripe,
	type Webhook,
} from '../../../test/payments.ts'
import { signWebhook } from '../../../test/stripe.ts'
import { bySystem } from '../../platform/base/origin.ts'
import type { PaymentLink } from '../invoices/payment-link-store.ts'
import { receivePayment } from './receive.ts'

let server: StripeServer
let url: string
beforeAll(async () => {
	server = await startWithStripe()
	url = `${server.url}/payments/stripe/webhook`
})
afterAll(() => server.close())

const received = { status: 200, body: { received: true } }
const completed = 'checkout.session.completed'

/** An organization with an invoice whose client has paid at Stripe. */
async function paid(invoice?: object) {
	const tenant = await server.newTenant()
	return { tenant, ...(await paidAtStripe(server, tenant, invoice)) }
}

const outcomesOf = async ({ organizationId }: Tenant) =>
	(await paymentsOf(server.db, organizationId)).map(({ outcome }) => outcome)
const typesOf = async ({ organizationId }: Tenant) => (await eventsOfPayments(server.db, organizationId)).map(({ type }) => type)

const ledgerOf = async (tenant: Tenant) => (await tenant.ask('GET', '/api/payments')).body.data

describe('a payment', () => {
	it('makes the invoice paid, moves its deal, and leaves its events in order', async () => {
		const tenant = await server.newTenant()
		const dealId = await tenant.newDeal({ stage: 'invoiced' })
		const { id, link, webhook } = await paidAtStripe(server, tenant, { totalCents: 160_650, currency: 'EUR', dealId })
		expect(await post(url, webhook())).toMatchObject(received)
		const paidAt = Math.floor(server.clock.now / 1000) * 1000
		const reference = server.stripe.sessions.get(link.externalId)?.payment_intent
		expect(await readInvoice(tenant, id)).toMatchObject({
			status: 'paid',
			paidDate: paidAt,
			paymentMethod: 'card',
			paymentReference: reference,
			amountPaidCents: 160_650,
			amountDueCents: 0,
			version: 2,
		})
		expect((await tenant.ask('GET', `/api/deals/${dealId}`)).body.data.stage).toBe('paid')
		const actor = { type: 'payment_processor', id: 'stripe' }
		const payments = await ledgerOf(tenant)
		expect(payments).toMatchObject([
			{
				...{ invoiceId: id, source: 'processor', processor: 'stripe', externalId: link.externalId, method: 'card', reference },
				...{ amountCents: 160_650, currency: 'EUR', availableCents: 0, unappliedReason: null, paidAt },
				allocations: [{ invoiceId: id, amountCents: 160_650 }],
			},
		])
		expect(await eventsOfPayments(server.db, tenant.organizationId)).toMatchObject([
			{ type: 'payment.received', resourceId: payments[0].id, actor },
			{ type: 'invoice.updated', resourceId: id, actor, changes: { status: { from: 'sent', to: 'paid' } } },
			{ type: 'invoice.paid', resourceId: id, actor },
			{ type: 'deal.updated', resourceId: dealId, actor },
			{ type: 'deal.stage_changed', resourceId: dealId, actor, changes: { stage: { from: 'invoiced', to: 'paid' } } },
		])
		expect(await paymentsOf(server.db, tenant.organizationId)).toMatchObject([
			{ invoiceId: id, linkId: link.id, outcome: 'applied', amountCents: 160_650, currency: 'EUR', reference, paidAt },
		])
		expect(await linksOf(server.db, tenant, id)).toMatchObject([{ status: 'paid' }])
		expect(await askForLink(tenant, id)).toMatchObject({ status: 422, body: { code: 'nothing_to_pay' } })
	})

	it('leaves a deal where it is that does not advance by itself', async () => {
		const tenant = await server.newTenant()
		const dealId = await tenant.newDeal({ stage: 'invoiced', autoAdvance: false })
		const { webhook } = await paidAtStripe(server, tenant, { totalCents: 5_000, dealId })
		await post(url, webhook())
		expect((await tenant.ask('GET', `/api/deals/${dealId}`)).body.data.stage).toBe('invoiced')
		expect(await typesOf(tenant)).toEqual(['payment.received', 'invoice.updated', 'invoice.paid'])
	})

	it('is one, however often and under however many event ids it is reported', async () => {
		const { tenant, id, webhook } = await paid()
		const first = webhook()
		const others = [first, webhook(), webhook('checkout.session.async_payment_succeeded')]
		for (const delivery of [first, ...others]) expect(await post(url, delivery)).toMatchObject(received)
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', version: 2 })
		expect(await outcomesOf(tenant)).toEqual(['applied'])
		expect(await typesOf(tenant)).toEqual(['payment.received', 'invoice.updated', 'invoice.paid'])
	})

	it('that was taken back by hand is not repeated by another delivery', async () => {
		const { tenant, id, webhook } = await paid()
		const first = webhook()
		await post(url, first)
		await patchInvoice(tenant, id, { status: 'sent' })
		for (const delivery of [first, webhook()]) expect(await post(url, delivery)).toMatchObject(received)
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'sent', version: 3 })
		expect(await outcomesOf(tenant)).toEqual(['applied'])
	})

	it('in several forms at once is applied once', async () => {
		const tenant = await server.newTenant()
		const dealId = await tenant.newDeal({ stage: 'invoiced' })
		const { id, webhook } = await paidAtStripe(server, tenant, { totalCents: 5_000, dealId })
		const first = webhook()
		const deliveries = Array.from({ length: 50 }, (_, index) => (index % 5 === 0 ? webhook() : first))
		const answers = await Promise.all(deliveries.map((delivery) => post(url, delivery)))
		for (const answer of answers) expect(answer).toMatchObject(received)
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', version: 2 })
		expect(await outcomesOf(tenant)).toEqual(['applied'])
		expect(await typesOf(tenant)).toEqual([
			'payment.received',
			'invoice.updated',
			'invoice.paid',
			'deal.updated',
			'deal.stage_changed',
		])
	})

	it('of each of many invoices at once is applied to its own', async () => {
		const tenant = await server.newTenant()
		const totals = Array.from({ length: 50 }, (_, index) => 5_000 + index)
		const made = await Promise.all(totals.map((totalCents) => paidAtStripe(server, tenant, { totalCents })))
		const answers = await Promise.all(made.map(({ webhook }) => post(url, webhook())))
		for (const answer of answers) expect(answer).toMatchObject(received)
		const { data } = (await tenant.ask('GET', '/api/invoices?status=paid&limit=100')).body
		expect(data.map(({ amountPaidCents }: { amountPaidCents: number }) => amountPaidCents).sort()).toEqual(totals)
		expect(await outcomesOf(tenant)).toEqual(Array(50).fill('applied'))
	})

	it('while the invoice is written and its link replaced ends with every answer and one payment', async () => {
		const { tenant, id, webhook } = await paid()
		const notes = Array.from({ length: 10 }, (_, index) => patchInvoice(tenant, id, { notes: `${index}` }))
		const asked = Array.from({ length: 10 }, () => askForLink(tenant, id))
		const told = Array.from({ length: 10 }, () => post(url, webhook()))
		for (const { status } of await Promise.all([...notes, ...told])) expect(status).toBe(200)
		for (const { status } of await Promise.all(asked)) expect([200, 422]).toContain(status)
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', version: 12 })
		expect(await outcomesOf(tenant)).toEqual(['applied'])
	})

	it('of less than is owed is a part of it, and the rest is what the next link asks for', async () => {
		const { tenant, id, webhook } = await paid()
		await patchInvoice(tenant, id, { totalCents: 8_000 })
		await post(url, webhook())
		const partly = { status: 'sent', amountPaidCents: 5_000, amountDueCents: 3_000, paymentState: 'partially_paid' }
		expect(await readInvoice(tenant, id)).toMatchObject(partly)
		expect(await typesOf(tenant)).toEqual(['payment.received', 'invoice.updated', 'invoice.partially_paid'])
		await askForLink(tenant, id)
		const link = (await linksOf(server.db, tenant, id)).find(({ status }) => status === 'live') as PaymentLink
		expect(link.amountCents).toBe(3_000)
		server.stripe.complete(link.externalId)
		await post(url, server.stripe.deliver(completed, link.externalId, server.clock.now))
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', amountPaidCents: 8_000, paymentState: 'paid' })
		await expectBalanced(server.db, tenant.organizationId)
	})

	it('of more than is owed leaves the rest available', async () => {
		const { tenant, id, webhook } = await paid()
		await patchInvoice(tenant, id, { totalCents: 4_000 })
		await post(url, webhook())
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', amountPaidCents: 4_000 })
		expect(await ledgerOf(tenant)).toMatchObject([{ allocatedCents: 4_000, availableCents: 1_000, unappliedReason: 'overpaid' }])
		await expectBalanced(server.db, tenant.organizationId)
	})

	it('by a link that was replaced is applied when it is exactly what is owed', async () => {
		const { tenant, id, webhook } = await paid()
		await patchInvoice(tenant, id, { totalCents: 6_000 })
		await askForLink(tenant, id)
		await patchInvoice(tenant, id, { totalCents: 5_000 })
		await post(url, webhook())
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', amountPaidCents: 5_000 })
		const statuses = (await linksOf(server.db, tenant, id)).map(({ status }) => status).sort()
		expect(statuses).toEqual([closed, 'paid'])
	})
})

type Paid = Awaited<ReturnType<typeof paid>>
const session = ({ link }: Paid) => server.stripe.sessions.get(link.externalId) as object
const cases: [string, string, (paid: Paid) => unknown][] = [
	['another currency', 'currency_mismatch', (made) => Object.assign(session(made), { currency: 'eur' })],
	['a cancelled invoice', 'invoice_cancelled', (made) => patchInvoice(made.tenant, made.id, { status: 'cancelled' })],
	['a deleted invoice', 'invoice_deleted', (made) => made.tenant.ask('DELETE', `/api/invoices/${made.id}`)],
	['an invoice that was paid by hand', 'already_paid', (made) => patchInvoice(made.tenant, made.id, { status: 'paid' })],
]

describe.each(cases)('a payment of %s', (_, outcome, change) => {
	it('is written down and leaves the invoice as it is', async () => {
		const made = await paid()
		await change(made)
		const path = `/api/invoices/${made.id}`
		const before = await made.tenant.ask('GET', path)
		const webhook = made.webhook()
		for (const delivery of [webhook, webhook, made.webhook()]) expect(await post(url, delivery)).toMatchObject(received)
		expect((await made.tenant.ask('GET', path)).body.data).toEqual(before.body.data)
		expect(await paymentsOf(server.db, made.tenant.organizationId)).toMatchObject([
			{ outcome, invoiceId: made.id, linkId: made.link.id },
		])
		expect(await ledgerOf(made.tenant)).toContainEqual(
			expect.objectContaining({ unappliedReason: outcome, allocations: [], allocatedCents: 0, availableCents: 5_000 }),
		)
		expect(await typesOf(made.tenant)).toEqual(['payment.received', 'payment.unapplied'])
	})

	it('is a warning in the log, which names what a person needs to put it right', async () => {
		const made = await paid()
		await change(made)
		const lines: object[] = []
		const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) })
		const { organizationId } = made.tenant
		const ids = { organizationId, invoiceId: made.id, eventId: 'evt_logged' }
		const { amount_total: amountCents, currency } = session(made) as { amount_total: number; currency: string }
		const paidAt = server.clock.now
		const money = { amountCents, currency: currency.toUpperCase(), method: 'card', reference: 'pi_1', paidAt }
		const origin = bySystem(paidAt)
		await receivePayment(
			server.db,
			log,
			'stripe',
			{ ...ids, ...money, linkId: made.link.id, externalId: made.link.externalId },
			origin,
		)
		const { method, paidAt: _paidAt, ...told } = money
		expect(lines).toMatchObject([{ level: 40, processor: 'stripe', outcome, ...ids, ...told }])
	})
})

describe('what is not about a link of ours', () => {
	it.each<[string, (made: Paid, other: Paid) => object]>([
		['an event of another product', () => ({ metadata: { order: '7' } })],
		['an organization that does not exist', (made) => ({ metadata: { ...metadataOf(made), organizationId: 'org_unknown' } })],
	])('is received and changes nothing: %s', async (_, forge) => {
		const [made, other] = [await paid(), await paid()]
		Object.assign(session(made), forge(made, other))
		expect(await post(url, made.webhook())).toMatchObject(received)
		for (const { tenant, id } of [made, other]) {
			expect(await readInvoice(tenant, id)).toMatchObject({ status: 'sent', version: 1 })
			expect(await outcomesOf(tenant)).toEqual([])
			expect(await linksOf(server.db, tenant, id)).toMatchObject([{ status: 'live' }])
		}
	})

	it.each<[string, (made: Paid, other: Paid) => object, owner?: 'other']>([
		['a link that does not exist', (made) => ({ metadata: { ...metadataOf(made), linkId: 'plk_unknown' } })],
		[
			'a link of another organization',
			(made, other) => ({ metadata: { ...metadataOf(other), organizationId: made.tenant.organizationId } }),
		],
		['another invoice than the link’s', (made, other) => ({ metadata: { ...metadataOf(made), invoiceId: other.id } })],
		['another page than the link’s', (_, other) => ({ metadata: metadataOf(other) }), 'other'],
	])('is written down once, and pays nothing: %s', async (_, forge, owner) => {
		const [made, other] = [await paid(), await paid()]
		Object.assign(session(made), forge(made, other))
		for (const type of [completed, completed, 'checkout.session.async_payment_succeeded'])
			expect(await post(url, made.webhook(type))).toMatchObject(received)
		const { tenant } = owner === 'other' ? other : made
		expect(await paymentsOf(server.db, tenant.organizationId)).toMatchObject([
			{ outcome: 'unknown_link', externalId: made.link.externalId, amountCents: 5_000, currency: 'USD', method: 'card' },
		])
		for (const { tenant, id } of [made, other]) {
			expect(await readInvoice(tenant, id)).toMatchObject({ status: 'sent', version: 1 })
			expect(await linksOf(server.db, tenant, id)).toMatchObject([{ status: 'live' }])
		}
	})

	it.each(['checkout.session.expired', 'payment_intent.succeeded', 'invoice.paid'])('nor is %s', async (type) => {
		const { tenant, id, webhook } = await paid()
		expect(await post(url, webhook(type))).toMatchObject(received)
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'sent' })
		expect(await outcomesOf(tenant)).toEqual([])
	})
})

const metadataOf = ({ tenant, id, link }: Paid) => ({ organizationId: tenant.organizationId, invoiceId: id, linkId: link.id })

describe('a webhook that Stripe did not send so', () => {
	const minute = 60_000
	const refusals: [string, (webhook: Webhook, externalId: string) => Webhook, status?: number][] = [
		['is not signed', ({ body }) => ({ body, headers: {} })],
		['has a wrong signature', ({ body, headers }) => ({ body, headers: { ...headers, 'stripe-signature': 't=1,v1=00' } })],
		['is signed with another secret', (_, id) => server.stripe.deliver(completed, id, server.clock.now, 'whsec_other')],
		['is older than five minutes', (_, id) => server.stripe.deliver(completed, id, server.clock.now - 6 * minute)],
		['names another amount', ({ body, headers }) => ({ body: tampered(body), headers })],
		['is cut off', ({ body, headers }) => ({ body: body.subarray(0, -1), headers })],
		['is empty', ({ headers }) => ({ body: new Uint8Array(), headers })],
		['is not JSON', () => signWebhook('paid!', server.clock.now, server.stripe.webhookSecret)],
		['is no event', () => signWebhook('[]', server.clock.now, server.stripe.webhookSecret)],
		['is said to be compressed', ({ body, headers }) => ({ body, headers: { ...headers, 'content-encoding': 'gzip' } })],
		['is 1 MB long', () => signWebhook('x'.repeat(2 ** 20), server.clock.now, server.stripe.webhookSecret), 413],
	]

	it.each(refusals)('is refused and changes nothing: it %s', async (_, forge, status = 400) => {
		const { tenant, id, link, webhook } = await paid()
		const answer = await post(url, forge(webhook(), link.externalId))
		const code = status === 413 ? 'payload_too_large' : 'invalid_signature'
		expect(answer).toMatchObject({
			status,
			type: 'application/problem+json',
			body: { code, instance: '/payments/stripe/webhook' },
		})
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'sent', version: 1 })
		expect(await outcomesOf(tenant)).toEqual([])
	})

	const tampered = (body: Uint8Array) => new TextEncoder().encode(new TextDecoder().decode(body).replace('5000', '5001'))

	it('is refused as a replay when it is old, and nothing happens again', async () => {
		const { tenant, id, webhook } = await paid()
		const recorded = webhook()
		expect(await post(url, recorded)).toMatchObject(received)
		server.clock.now += 10 * minute
		expect(await post(url, recorded)).toMatchObject({ status: 400, body: { code: 'invalid_signature' } })
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', version: 2 })
		expect(await outcomesOf(tenant)).toEqual(['applied'])
	})

	it.each(['GET', 'PUT', 'DELETE'])('is refused by %s', async (method) => {
		const { tenant, webhook } = await paid()
		const answer = await post(url, webhook(), method)
		expect(answer).toMatchObject({ status: 405, type: 'application/problem+json', body: { code: 'method_not_allowed' } })
		expect(answer.headers.get('allow')).toBe('POST')
		expect(await outcomesOf(tenant)).toEqual([])
	})

	it('finds no processor but the one that is set up', async () => {
		const { webhook } = await paid()
		for (const name of ['test', 'paypal']) {
			expect((await post(`${server.url}/payments/${name}/webhook`, webhook())).status).toBe(404)
		}
	})
})
