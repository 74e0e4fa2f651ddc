import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stripeSecret } from '../../../../test/leaks.ts'
import { FakeStripe, signWebhook } from '../../../../test/stripe.ts'
import { InvalidWebhook, type PaymentProcessor, type PaymentRequest, ProcessorError } from './processor.ts'
import { stripeProcessor } from './stripe.ts'

const now = Date.UTC(2026, 2, 31, 10)
const ids = { organizationId: 'org_1', invoiceId: 'inv_7', linkId: 'pl_1' }
const request: PaymentRequest = {
	...ids,
	invoiceNumber: 'INV-0007',
	sellerName: 'Acme GmbH',
	amountCents: 160_650,
	currency: 'EUR',
	customerEmail: 'ap@example.com',
	returnUrl: 'https://pay.example.com/i/7?paid',
	cancelUrl: 'https://pay.example.com/i/7',
}

let fake: FakeStripe
let stripe: PaymentProcessor
const open = (secretKey = fake.secretKey, timeoutMs = 5000) =>
	stripeProcessor({ name: 'stripe', secretKey, webhookSecret: fake.webhookSecret, apiBase: fake.apiBase, timeoutMs })

beforeEach(async () => {
	fake = await new FakeStripe().start()
	stripe = open()
})
afterEach(() => fake.stop())

const rejected = async (attempt: Promise<unknown>) => {
	const error = await attempt.then(
		() => 'accepted',
		(thrown) => thrown,
	)
	return error instanceof ProcessorError ? [error.code, error.message] : error
}

it('asks Stripe through a proxy where there is one', async () => {
	const asked: string[] = []
	const proxy = createServer().on('connect', ({ url = '' }, socket) => {
		asked.push(url)
		socket.end('HTTP/1.1 403 No\r\n\r\n')
	})
	await once(proxy.listen(0, '127.0.0.1'), 'listening')
	const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
	const settings = {
		name: 'stripe',
		secretKey: stripeSecret('sk_test'),
		webhookSecret: stripeSecret('whsec'),
		timeoutMs: 5_000,
	} as const
	const proxied = stripeProcessor({ ...settings, apiBase: '', proxy: { HTTPS_PROXY, NO_PROXY: '' } })
	expect(await rejected(proxied.create(request))).toEqual(['payment_processor_failed', expect.any(String)])
	expect(new Set(asked)).toEqual(new Set(['api.stripe.com:443']))
	// NO_PROXY is read as it is for webhooks. This machine stands for Stripe, and speaks no TLS.
	const here = { apiBase: HTTPS_PROXY.replace('http:', 'https:'), proxy: { HTTPS_PROXY, NO_PROXY: '127.0.0.0/8' } }
	asked.length = 0
	expect(await rejected(stripeProcessor({ ...settings, ...here }).create(request))).toEqual([
		'payment_processor_failed',
		expect.any(String),
	])
	expect(asked).toEqual([])
	proxy.close()
})

describe('a link', () => {
	it('is a Checkout Session with one line for the amount due, and says when it expires', async () => {
		const before = Date.now()
		const link = await stripe.create(request)
		expect(fake.requests[0]?.form).toEqual({
			mode: 'payment',
			'line_items[0][quantity]': '1',
			'line_items[0][price_data][currency]': 'eur',
			'line_items[0][price_data][unit_amount]': '160650',
			'line_items[0][price_data][product_data][name]': 'Invoice INV-0007',
			'line_items[0][price_data][product_data][description]': 'Acme GmbH',
			client_reference_id: 'pl_1',
			customer_email: 'ap@example.com',
			'metadata[organizationId]': 'org_1',
			'metadata[invoiceId]': 'inv_7',
			'metadata[linkId]': 'pl_1',
			'payment_intent_data[description]': 'Invoice INV-0007',
			'payment_intent_data[metadata][organizationId]': 'org_1',
			'payment_intent_data[metadata][invoiceId]': 'inv_7',
			'payment_intent_data[metadata][linkId]': 'pl_1',
			success_url: 'https://pay.example.com/i/7?paid',
			cancel_url: 'https://pay.example.com/i/7',
		})
		expect(fake.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'pl_1', 'stripe-version': expect.any(String) })
		expect(new URL(link.url).origin).toBe(stripe.pages[0])
		expect(link.url).toContain(link.externalId)
		expect(link.expiresAt).toBeGreaterThan(before + 23 * 3_600_000)
	})

	it('tells Stripe nothing about earlier requests', async () => {
		for (const linkId of ['pl_1', 'pl_2']) await stripe.create({ ...request, linkId })
		for (const { headers } of fake.requests) expect(headers).not.toHaveProperty('x-stripe-client-telemetry')
	})

	it('leaves out an unknown customer and seller', async () => {
		await stripe.create({ ...request, customerEmail: null, sellerName: '' })
		const fields = Object.keys(fake.requests[0]?.form ?? {})
		expect(fields.filter((field) => field === 'customer_email' || field.endsWith('product_data][description]'))).toEqual([])
	})

	it('asked for again is the same page', async () => {
		const link = await stripe.create(request)
		expect(await stripe.create({ ...request })).toEqual(link)
		expect(await open().create(request)).toEqual(link)
		expect(fake.sessions.size).toBe(1)
		expect((await stripe.create({ ...request, linkId: 'pl_2' })).url).not.toBe(link.url)
	})

	it.each([
		['EUR', 1050, '1050'],
		['JPY', 5000, '5000'],
		['KWD', 5120, '5120'],
		['ISK', 500, '50000'],
		['UGX', 5000, '500000'],
		['MGA', 500_000, '5000'],
	])('and its payment have the same amount of %s %d, which is %s for Stripe', async (currency, amountCents, unitAmount) => {
		const { externalId } = await stripe.create({ ...request, currency, amountCents })
		expect(fake.requests[0]?.form['line_items[0][price_data][unit_amount]']).toBe(unitAmount)
		fake.complete(externalId)
		const { body, headers } = fake.deliver('checkout.session.completed', externalId, now)
		expect(stripe.readWebhook(body, headers, now)).toMatchObject({ currency, amountCents })
	})
})

describe('a link that cannot be', () => {
	it('is rejected without asking Stripe when Stripe does not take the fraction', async () => {
		const attempt = stripe.create({ ...request, currency: 'KWD', amountCents: 1234 })
		expect(await rejected(attempt)).toEqual(['amount_not_payable', expect.stringContaining('1234 minor units of KWD')])
		expect(fake.requests).toEqual([])
	})

	it.each([
		[{ amountCents: 20 }, 'at least $0.50'],
		[{ amountCents: -1 }, 'Invalid non-negative integer'],
		[{ currency: 'KPW' }, 'Invalid currency: kpw'],
	])('says what Stripe says of its amount: %j', async (change, words) => {
		const attempt = stripe.create({ ...request, ...change })
		expect(await rejected(attempt)).toEqual(['amount_not_payable', expect.stringContaining(words)])
	})

	it.each([
		[400, 'invalid_request_error', 'Stripe refused: Invalid email address: nobody'],
		[402, 'card_error', 'Stripe refused: Invalid email address: nobody'],
		[403, 'invalid_request_error', 'Stripe does not accept the secret key.'],
		[429, 'invalid_request_error', 'Stripe takes no more requests for now; try again in a minute.'],
	])('says why: %d %s', async (status, type, message) => {
		fake.failures.push({ status, error: { type, message: 'Invalid email address: nobody' } })
		expect(await rejected(stripe.create(request))).toEqual(['payment_processor_failed', message])
		expect(fake.requests).toHaveLength(1)
	})

	it('for another invoice under a used link is never the first one’s page', async () => {
		await stripe.create(request)
		const attempt = stripe.create({ ...request, amountCents: 99_900 })
		expect(await rejected(attempt)).toEqual(['payment_processor_failed', expect.any(String)])
	})

	it('never shows the key, and keeps Stripe’s error for the log', async () => {
		const error = await open('sk_test_wrong_key_1234')
			.create(request)
			.catch((thrown) => thrown)
		expect(error).toBeInstanceOf(ProcessorError)
		expect(error.message).toBe('Stripe does not accept the secret key.')
		expect(error.cause).toMatchObject({ statusCode: 401 })
	})
})

describe('an attempt that fails in transit', () => {
	const serverError = { status: 500, error: { type: 'api_error', message: 'An unknown error occurred' } }

	it.each([['drop' as const], [serverError]])('is repeated once, under the same key: %j', async (failure) => {
		fake.failures.push(failure)
		expect(await stripe.create(request)).toMatchObject({ url: expect.stringContaining('https://') })
		expect(fake.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['pl_1', 'pl_1'])
		expect(fake.sessions.size).toBe(1)
	})

	it('twice is given up', async () => {
		fake.failures.push(serverError, serverError)
		expect(await rejected(stripe.create(request))).toEqual([
			'payment_processor_failed',
			'Stripe failed to answer; try again in a minute.',
		])
	})

	it('by silence is given up after the time-out', async () => {
		fake.failures.push('hang', 'hang')
		const attempt = open(fake.secretKey, 50).create(request)
		expect(await rejected(attempt)).toEqual(['payment_processor_failed', 'Stripe cannot be reached; try again in a minute.'])
	})
})

describe('deactivating', () => {
	it('ends the page, and doing it again changes nothing', async () => {
		const { externalId } = await stripe.create(request)
		await stripe.deactivate(externalId)
		expect(fake.sessions.get(externalId)?.status).toBe('expired')
		await stripe.deactivate(externalId)
	})

	it('is fine for a link that is paid or unknown', async () => {
		const { externalId } = await stripe.create(request)
		fake.complete(externalId)
		await stripe.deactivate(externalId)
		expect(fake.sessions.get(externalId)?.status).toBe('complete')
		await stripe.deactivate('cs_test_unknown')
	})

	it('fails when the page can still be paid', async () => {
		const { externalId } = await stripe.create(request)
		fake.failures.push({ status: 400, error: { type: 'invalid_request_error', message: 'Not now' } })
		expect(await rejected(stripe.deactivate(externalId))).toEqual(['payment_processor_failed', 'Stripe refused: Not now'])
		expect(await rejected(open('sk_test_wrong').deactivate(externalId))).toEqual([
			'payment_processor_failed',
			'Stripe does not accept the secret key.',
		])
	})
})

describe('a webhook', () => {
	const completed = 'checkout.session.completed'
	const paidLink = async () => {
		const { externalId } = await stripe.create(request)
		fake.complete(externalId)
		return externalId
	}

	it('reports a payment', async () => {
		const externalId = await paidLink()
		const { body, headers } = fake.deliver(completed, externalId, now)
		expect(stripe.readWebhook(body, headers, now + 1000)).toEqual({
			...ids,
			eventId: 'evt_1',
			externalId,
			amountCents: 160_650,
			currency: 'EUR',
			method: 'card',
			reference: fake.sessions.get(externalId)?.payment_intent,
			paidAt: now,
		})
	})

	it('reports a debit once it succeeded, not when the page was finished', async () => {
		const { externalId } = await stripe.create(request)
		fake.complete(externalId, 'unpaid')
		const first = fake.deliver(completed, externalId, now)
		expect(stripe.readWebhook(first.body, first.headers, now)).toBeUndefined()
		fake.complete(externalId, 'paid')
		const later = now + 3 * 86_400_000
		const second = fake.deliver('checkout.session.async_payment_succeeded', externalId, later)
		expect(stripe.readWebhook(second.body, second.headers, later)).toMatchObject({ ...ids, externalId, paidAt: later })
	})

	it('reports no method when several were offered', async () => {
		const externalId = await paidLink()
		Object.assign(fake.sessions.get(externalId) ?? {}, { payment_method_types: ['card', 'sepa_debit'] })
		const { body, headers } = fake.deliver(completed, externalId, now)
		expect(stripe.readWebhook(body, headers, now)).toMatchObject({ method: 'stripe' })
	})

	it.each<[string, object]>([
		['checkout.session.expired', {}],
		['checkout.session.async_payment_failed', { payment_status: 'unpaid' }],
		['payment_intent.succeeded', {}],
		[completed, { metadata: {} }],
		[completed, { metadata: null }],
		...Object.keys(ids).map((name) => [completed, { metadata: { ...ids, [name]: '' } }] satisfies [string, object]),
	])('of something else reports nothing: %s %j', async (type, change) => {
		const externalId = await paidLink()
		Object.assign(fake.sessions.get(externalId) ?? {}, change)
		const { body, headers } = fake.deliver(type, externalId, now)
		expect(stripe.readWebhook(body, headers, now)).toBeUndefined()
	})

	it('is good for five minutes by the server’s clock', async () => {
		const { body, headers } = fake.deliver(completed, await paidLink(), now)
		expect(stripe.readWebhook(body, headers, now + 300_000)).toBeDefined()
		expect(() => stripe.readWebhook(body, headers, now + 301_000)).toThrow(InvalidWebhook)
	})

	it('that is not what Stripe signed is refused', async () => {
		const { body, headers } = fake.deliver(completed, await paidLink(), now)
		const signature = headers['stripe-signature']
		const tampered = Buffer.from(Buffer.from(body).toString().replace('160650', '160651'))
		const attempts: [Uint8Array, Record<string, string>][] = [
			[tampered, headers],
			[body.subarray(0, -1), headers],
			[new Uint8Array(), headers],
			[body, {}],
			[body, { 'stripe-signature': 'v1=' }],
			[body, { 'stripe-signature': signature.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) }],
			[body, { 'stripe-signature': signature.replace(/t=\d+/, `t=${now / 1000 + 60}`) }],
			[body, { 'stripe-signature': signature.replace('v1=', 'v0=') }],
		]
		for (const [sent, by] of attempts) expect(() => stripe.readWebhook(sent, by, now)).toThrow(InvalidWebhook)
	})

	it('signed with another secret is rejected; of two signatures, as while the secret is rolled, one must be right', async () => {
		const externalId = await paidLink()
		const { body, headers } = fake.deliver(completed, externalId, now, 'whsec_other')
		expect(() => stripe.readWebhook(body, headers, now)).toThrow(InvalidWebhook)
		const right = signWebhook(Buffer.from(body).toString(), now, fake.webhookSecret).headers['stripe-signature']
		const both = `${headers['stripe-signature']},${right.split(',')[1]}`
		expect(stripe.readWebhook(body, { 'stripe-signature': both }, now)).toMatchObject(ids)
	})

	it.each(['{', 'null', '[]', '{"object":"charge"}', '{"object":"v2.core.event"}'])(
		'signed, but no event is refused: %s',
		(text) => {
			const { body, headers } = signWebhook(text, now, fake.webhookSecret)
			expect(() => stripe.readWebhook(body, headers, now)).toThrow(InvalidWebhook)
		},
	)

	it('with a fraction that the currency does not have is rejected, so that Stripe shows the failure', async () => {
		const externalId = await paidLink()
		Object.assign(fake.sessions.get(externalId) ?? {}, { currency: 'isk', amount_total: 550 })
		const { body, headers } = fake.deliver(completed, externalId, now)
		expect(() => stripe.readWebhook(body, headers, now)).toThrow(InvalidWebhook)
	})
})
