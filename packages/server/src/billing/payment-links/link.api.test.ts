// The payment link of an invoice: which one it has, and that failures of the processor store nothing.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import {
	askForLink,
	closed,
	createInvoice,
	linksOf,
	patchInvoice,
	processorOf,
	readInvoice,
	type StripeServer,
	startWithStripe,
} from '../../../test/payments.ts'
import { bySystem } from '../../platform/base/origin.ts'
import type { PaymentLink } from '../invoices/payment-link-store.ts'
import { getOrCreatePaymentLink } from './link.ts'

let stripe: StripeServer
let test: TestServer
beforeAll(async () => {
	stripe = await startWithStripe()
	test = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
afterAll(async () => {
	await stripe.close()
	await test.close()
})

const processors = [
	['stripe', () => stripe as TestServer, 'https://checkout.stripe.com/c/pay/cs_test_'],
	['test', () => test, '/pay/test/test_plk_'],
] as const

const urlOf = async (server: TestServer, id: string): Promise<string> => {
	const { status, body } = await askForLink(server, id)
	expect(status).toBe(200)
	return body.url
}
const getLink = ({ ask }: TestServer, id: string) => ask('GET', `/api/invoices/${id}/payment-link`)
const refusal = (status: number, code: string) => ({ status, body: { code } })

describe.each(processors)('with the processor %s', (_, processor, page) => {
	let server: TestServer
	beforeAll(() => {
		server = processor()
	})

	it('a link is made once, and given again while what is owed is the same', async () => {
		const id = await createInvoice(server)
		expect(await getLink(server, id)).toMatchObject(refusal(404, 'payment_link_not_found'))
		const url = await urlOf(server, id)
		expect(url).toContain(page)
		await patchInvoice(server, id, { status: 'sent', notes: 'Thank you', dueDate: '2030-01-01' })
		expect(await urlOf(server, id)).toBe(url)
		expect((await getLink(server, id)).body).toEqual({ url })
		expect(await linksOf(server.db, server, id)).toMatchObject([{ status: 'live', amountCents: 5_000, currency: 'USD' }])
	})

	it.each([
		['amount', { totalCents: 7_500 }, { amountCents: 7_500, currency: 'USD' }],
		['currency', { currency: 'EUR' }, { amountCents: 5_000, currency: 'EUR' }],
	])('another %s makes it another link, and the first is to be closed', async (_name, change, owed) => {
		const id = await createInvoice(server)
		const url = await urlOf(server, id)
		await patchInvoice(server, id, change)
		expect(await getLink(server, id)).toMatchObject(refusal(404, 'payment_link_not_found'))
		server.clock.now += 1
		const other = await urlOf(server, id)
		expect(other).not.toBe(url)
		expect((await getLink(server, id)).body).toEqual({ url: other })
		expect(await linksOf(server.db, server, id)).toMatchObject([{ status: closed }, { status: 'live', url: other, ...owed }])
	})

	it.each([
		['paid', { totalCents: 5_000, status: 'paid' }, 'it is paid'],
		['cancelled', { totalCents: 5_000, status: 'cancelled' }, 'it is cancelled'],
		['of nothing', { totalCents: 0, status: 'sent' }, 'its total is 0'],
		['of a credit', { totalCents: -100, status: 'sent' }, 'it is a credit'],
	])('an invoice that is %s has nothing to pay', async (_name, body, why) => {
		const id = await createInvoice(server, body)
		const { status, body: problem } = await askForLink(server, id)
		expect([status, problem.code, problem.detail]).toEqual([422, 'nothing_to_pay', expect.stringContaining(why)])
		expect(await linksOf(server.db, server, id)).toEqual([])
	})

	it('an invoice whose caller calls it sent although all of it is paid has nothing to pay', async () => {
		const id = await createInvoice(server, { totalCents: 5_000, status: 'sent' })
		await server.ask('POST', '/api/payments', { body: { invoiceId: id, amountCents: 5_000 } })
		await patchInvoice(server, id, { status: 'sent' })
		expect((await askForLink(server, id)).body.detail).toMatch(/Nothing is owed on the invoice .*: all of it is paid\.$/)
	})

	it('an Idempotency-Key repeats the answer, and stands for one invoice', async () => {
		const [id, other] = [await createInvoice(server), await createInvoice(server)]
		const headers = { 'idempotency-key': `for ${id}` }
		const first = await askForLink(server, id, headers)
		const again = await askForLink(server, id, headers)
		expect(again).toMatchObject({ status: 200, text: first.text })
		expect(again.headers.get('idempotent-replayed')).toBe('true')
		expect(await askForLink(server, other, headers)).toMatchObject(refusal(422, 'idempotency_key_reused'))
		expect(await linksOf(server.db, server, other)).toEqual([])
	})

	it('an unknown invoice, or one of another organization, has none', async () => {
		const id = await createInvoice(server)
		await urlOf(server, id)
		const tenant = await server.newTenant()
		for (const unknown of [id, 'inv_unknown']) {
			for (const method of ['POST', 'GET']) {
				const answer = await tenant.ask(method, `/api/invoices/${unknown}/payment-link`)
				expect(answer).toMatchObject(refusal(404, 'invoice_not_found'))
			}
		}
	})

	it('many requests at once get the same link, the only one that is live', async () => {
		const id = await createInvoice(server)
		const urls = await Promise.all(Array.from({ length: 20 }, () => urlOf(server, id)))
		expect(new Set(urls).size).toBe(1)
		expect(await linksOf(server.db, server, id)).toMatchObject([{ status: 'live', url: urls[0] }])
	})
})

describe('Stripe', () => {
	it('is told once who is paid for what, and where the payer goes', async () => {
		const tenant = await stripe.newTenant({ name: 'Northlight Studio' })
		const id = await createInvoice(tenant, { totalCents: 1_234, currency: 'JPY', invoiceNumber: 'N-7' })
		const { url: page } = (await tenant.ask('POST', `/api/invoices/${id}/client-link`)).body
		await askForLink(tenant, id)
		await askForLink(tenant, id)
		const [link] = await linksOf(stripe.db, tenant, id)
		const asked = stripe.stripe.requests.filter(({ form }) => form['metadata[invoiceId]'] === id)
		expect(asked).toHaveLength(1)
		expect(asked[0]?.form).toMatchObject({
			'line_items[0][price_data][unit_amount]': '1234',
			'line_items[0][price_data][currency]': 'jpy',
			'line_items[0][price_data][product_data][name]': 'Invoice N-7',
			'line_items[0][price_data][product_data][description]': 'Northlight Studio',
			'metadata[organizationId]': tenant.organizationId,
			'metadata[invoiceId]': id,
			'metadata[linkId]': link?.id,
			success_url: `${page}/paid`,
			cancel_url: page,
		})
	})

	it('forgets a link after a day: then there is none until it is asked for again', async () => {
		const id = await createInvoice(stripe)
		const url = await urlOf(stripe, id)
		const [{ expiresAt }] = (await linksOf(stripe.db, stripe, id)) as [PaymentLink]
		stripe.clock.now = expiresAt as number
		expect(await getLink(stripe, id)).toMatchObject(refusal(404, 'payment_link_not_found'))
		const other = await urlOf(stripe, id)
		stripe.clock.now = Date.now()
		expect(other).not.toBe(url)
		expect(await linksOf(stripe.db, stripe, id)).toMatchObject([
			{ status: closed, url },
			{ status: 'live', url: other },
		])
	})

	it.each([
		['a fraction that card networks do not have', { totalCents: 1_234, currency: 'KWD' }],
		['less than Stripe’s least', { totalCents: 1, currency: 'USD' }],
		['a currency that it does not know', { totalCents: 5_000, currency: 'CUP' }],
	])('does not take %s', async (_, body) => {
		const id = await createInvoice(stripe, body)
		const headers = { 'idempotency-key': `for ${id}` }
		expect(await askForLink(stripe, id, headers)).toMatchObject(refusal(422, 'amount_not_payable'))
		expect((await askForLink(stripe, id, headers)).headers.get('idempotent-replayed')).toBe('true')
		expect(await linksOf(stripe.db, stripe, id)).toEqual([])
	})
})

describe('Stripe, when it fails:', () => {
	// A Stripe of its own: otherwise the background work of another test's link could use up the failure.
	let failing: StripeServer
	beforeAll(async () => {
		failing = await startWithStripe({ BASE_URL: 'https://bills.example' })
	})
	afterEach(() => expect(failing.stripe.failures).toEqual([]))
	afterAll(() => failing.close())

	const serverError = { status: 500, error: { type: 'api_error', message: 'Out of order' } }
	it.each([
		['a refusal', [{ status: 402, error: { type: 'card_error', message: 'No' } }]],
		['an error, twice', [serverError, serverError]],
		['a dropped connection, twice', ['drop' as const, 'drop' as const]],
	])('%s changes nothing, and it is asked again for the same Idempotency-Key', async (_, failures) => {
		const id = await createInvoice(failing)
		const before = await readInvoice(failing, id)
		const headers = { 'idempotency-key': `for ${id}` }
		failing.stripe.failures.push(...failures)
		expect(await askForLink(failing, id, headers)).toMatchObject(refusal(502, 'payment_processor_failed'))
		expect(await linksOf(failing.db, failing, id)).toEqual([])
		expect(await readInvoice(failing, id)).toEqual(before)
		expect(await askForLink(failing, id, headers)).toMatchObject({ status: 200, body: { url: expect.any(String) } })
		// The URLs begin with BASE_URL, not with the address where the server listens.
		expect(failing.stripe.requests.at(-1)?.form).toMatchObject({
			success_url: 'https://bills.example/payments/received',
			cancel_url: 'https://bills.example/payments/cancelled',
		})
	})

	/** Asks for a link with a processor client that gives up after 50 ms of silence. */
	const impatiently = (invoiceId: string) => {
		const processor = processorOf(failing.stripe, 50)
		const request = {
			organizationId: failing.organizationId,
			invoiceId,
			processor,
			returnUrl: failing.url,
			cancelUrl: failing.url,
		}
		return getOrCreatePaymentLink(failing.db, { ...request, origin: bySystem(failing.clock.now) })
	}

	it('silence is given up', async () => {
		const id = await createInvoice(failing)
		failing.stripe.failures.push('hang', 'hang')
		await expect(impatiently(id)).rejects.toMatchObject({ status: 502, code: 'payment_processor_failed' })
		expect(await linksOf(failing.db, failing, id)).toEqual([])
	})

	it('after an answer that is late the server asks again when another amount is owed by then', async () => {
		const id = await createInvoice(failing)
		// The first attempt is silent; the invoice changes before the second.
		failing.stripe.failures.push('hang')
		const asked = impatiently(id)
		await patchInvoice(failing, id, { totalCents: 9_900 })
		const url = await asked
		expect(await linksOf(failing.db, failing, id)).toMatchObject([{ status: 'live', url, amountCents: 9_900 }])
		expect(failing.stripe.sessions.get(url.split('/').at(-1) as string)).toMatchObject({ amount_total: 9_900 })
	})

	it('an answer that is late, when nothing is owed any more, is not stored', async () => {
		const id = await createInvoice(failing)
		failing.stripe.failures.push('hang')
		const asked = expect(impatiently(id)).rejects.toMatchObject({ status: 422, code: 'nothing_to_pay' })
		await patchInvoice(failing, id, { status: 'paid' })
		await asked
		expect(await linksOf(failing.db, failing, id)).toEqual([])
	})
})

describe('a server that takes no payments', () => {
	let none: TestServer
	beforeAll(async () => {
		none = await startTestServer({ PAYMENT_PROCESSOR: 'none', NODE_ENV: 'production' })
	})
	afterAll(() => none.close())

	it('says so, and has no webhook and no page', async () => {
		const id = await createInvoice(none)
		expect(await askForLink(none, id)).toMatchObject(refusal(409, 'payment_processor_not_configured'))
		expect(await getLink(none, id)).toMatchObject(refusal(404, 'payment_link_not_found'))
		for (const path of ['/payments/stripe/webhook', '/payments/test/webhook', '/pay/test/test_plk_1']) {
			expect((await none.ask('POST', path)).status).toBe(404)
		}
	})
})
