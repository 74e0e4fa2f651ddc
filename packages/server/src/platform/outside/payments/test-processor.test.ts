import { describe, expect, it } from 'vitest'
import { InvalidWebhook } from './processor.ts'
import { signPayment, testProcessor } from './test-processor.ts'

const now = Date.UTC(2026, 2, 31, 10)
const ids = { organizationId: 'org_1', invoiceId: 'inv_7', linkId: 'pl_1' }
const payment = { ...ids, amountCents: 1234, currency: 'KWD', paidAt: now }
const processor = testProcessor(() => 'https://remit.example.com', 'secret of this server')
const request = {
	...ids,
	invoiceNumber: 'INV-0007',
	sellerName: 'Acme',
	amountCents: 1234,
	currency: 'KWD',
	customerEmail: null,
	returnUrl: 'https://remit.example.com/i/7',
	cancelUrl: 'https://remit.example.com/i/7',
}

describe('the test processor', () => {
	it('has its page on this server, the same for the same link', async () => {
		const link = await processor.create(request)
		expect(link).toEqual({ externalId: 'test_pl_1', url: 'https://remit.example.com/pay/test/test_pl_1', expiresAt: null })
		expect(await processor.create(request)).toEqual(link)
		expect(processor.pages).toEqual(['https://remit.example.com'])
		await processor.deactivate(link.externalId)
	})

	it('reports what was paid on its page', () => {
		const { body, headers } = signPayment(payment, 'secret of this server')
		expect(processor.readWebhook(body, headers, now)).toEqual({
			...payment,
			eventId: 'test_pl_1_paid',
			externalId: 'test_pl_1',
			method: 'test',
			reference: 'test_pl_1',
		})
	})

	it('paid twice reports one event', () => {
		const [first, second] = [now, now + 5000].map((paidAt) => {
			const { body, headers } = signPayment({ ...payment, paidAt }, 'secret of this server')
			return processor.readWebhook(body, headers, paidAt)
		})
		expect(first?.eventId).toBe(second?.eventId)
	})

	it('refuses a webhook that is not signed, signed by another, changed or old', () => {
		const { body, headers } = signPayment(payment, 'secret of this server')
		const changed = Buffer.from(Buffer.from(body).toString().replace('1234', '1'))
		const other = signPayment(payment, 'secret of another server')
		expect(() => processor.readWebhook(body, {}, now)).toThrow(InvalidWebhook)
		expect(() => processor.readWebhook(changed, headers, now)).toThrow(InvalidWebhook)
		expect(() => processor.readWebhook(other.body, other.headers, now)).toThrow(InvalidWebhook)
		expect(() => processor.readWebhook(body, headers, now + 301_000)).toThrow(InvalidWebhook)
	})
})
