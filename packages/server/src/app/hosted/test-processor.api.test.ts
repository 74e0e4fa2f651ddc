// The built-in processor: the server serves its page, and receives its payments like any other processor's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import {
	askForLink,
	createInvoice,
	eventsOfPayments,
	linksOf,
	patchInvoice,
	paymentsOf,
	post,
	readInvoice,
} from '../../../test/payments.ts'
import { signPayment } from '../../platform/outside/payments/test-processor.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
})
afterAll(() => server.close())

const pageOf = async (tenant: Tenant, id: string): Promise<string> => (await askForLink(tenant, id)).body.url
const open = async (url: string, method = 'GET') => {
	const answer = await fetch(url, { method, redirect: 'manual' })
	return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
}

describe('the page', () => {
	it('shows who is paid how much, and changes nothing', async () => {
		const tenant = await server.newTenant({ name: 'Müller & Söhne' })
		const id = await createInvoice(tenant, { totalCents: 123_456, currency: 'EUR', status: 'sent' })
		const { status, text } = await open(await pageOf(tenant, id))
		expect(status).toBe(200)
		for (const words of ['no money moves', '€1,234.56', 'Müller &#38; Söhne', 'INV-0001']) expect(text).toContain(words)
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'sent', version: 1 })
	})

	it('pays the invoice when its button is pressed, and leads on as before when it is opened again', async () => {
		const tenant = await server.newTenant()
		const dealId = await tenant.newDeal({ stage: 'invoiced' })
		const id = await createInvoice(tenant, { totalCents: 1_234, currency: 'KWD', dealId })
		const url = await pageOf(tenant, id)
		expect(await open(url, 'POST')).toMatchObject({ status: 303, location: `${server.url}/payments/received` })
		const [link] = await linksOf(server.db, tenant, id)
		expect(await readInvoice(tenant, id)).toMatchObject({
			status: 'paid',
			paidDate: server.clock.now,
			paymentMethod: 'test',
			paymentReference: link?.externalId,
			amountPaidCents: 1_234,
		})
		for (const method of ['GET', 'POST'])
			expect(await open(url, method)).toMatchObject({ status: 303, location: `${server.url}/payments/received` })
		expect(await paymentsOf(server.db, tenant.organizationId)).toMatchObject([{ processor: 'test', outcome: 'applied' }])
		const actor = { type: 'payment_processor', id: 'test' }
		expect(await eventsOfPayments(server.db, tenant.organizationId)).toMatchObject([
			{ type: 'payment.received', actor },
			{ type: 'invoice.updated', actor },
			{ type: 'invoice.paid', actor },
			{ type: 'deal.updated', actor },
			{ type: 'deal.stage_changed', actor },
		])
	})

	it('pressed many times at once pays once', async () => {
		const tenant = await server.newTenant()
		const id = await createInvoice(tenant)
		const url = await pageOf(tenant, id)
		const answers = await Promise.all(Array.from({ length: 20 }, () => open(url, 'POST')))
		for (const { status } of answers) expect([303, 404]).toContain(status)
		expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', version: 2 })
		expect(await paymentsOf(server.db, tenant.organizationId)).toHaveLength(1)
	})

	it('is where the client’s own page leads, and leads back there', async () => {
		const tenant = await server.newTenant()
		const id = await createInvoice(tenant, { totalCents: 5_000, status: 'sent' })
		const { url: view } = (await tenant.ask('POST', `/api/invoices/${id}/client-link`)).body
		const { status, location } = await open(`${view}/pay`, 'POST')
		expect([status, location]).toEqual([303, await pageOf(tenant, id)])
		expect((await open(location as string)).text).toContain(`href="${view}"`)
		expect(await open(location as string, 'POST')).toMatchObject({ status: 303, location: `${view}/paid` })
		expect((await open(view)).text).not.toContain('<form')
	})

	it.each<[string, object, number, string]>([
		['replaced', { totalCents: 6_000 }, 404, 'Dieser Link'],
		['for a cancelled invoice', { status: 'cancelled' }, 422, 'Es ist nichts zu zahlen'],
		['for one that was paid by hand', { status: 'paid' }, 422, 'Es ist nichts zu zahlen'],
	])('is gone when the link is %s, in the language of the invoice', async (_, change, gone, words) => {
		const tenant = await server.newTenant({ language: 'de' })
		const id = await createInvoice(tenant)
		const url = await pageOf(tenant, id)
		await patchInvoice(tenant, id, change)
		for (const method of ['GET', 'POST']) {
			const { status, text } = await open(url, method)
			expect([status, text]).toEqual([gone, expect.stringContaining(words)])
		}
		expect(await paymentsOf(server.db, tenant.organizationId)).toEqual([])
	})

	it('is nobody’s for an id that was guessed', async () => {
		for (const id of ['test_plk_unknown', 'cs_test_1', "' or 1=1", '%00']) {
			expect((await open(`${server.url}/pay/test/${encodeURIComponent(id)}`)).status).toBe(404)
		}
	})
})

describe('its webhook', () => {
	it('must be signed by the server', async () => {
		const tenant = await server.newTenant()
		const invoiceId = await createInvoice(tenant)
		await askForLink(tenant, invoiceId)
		const [link] = await linksOf(server.db, tenant, invoiceId)
		const { organizationId } = tenant
		const paid = { organizationId, invoiceId, linkId: link?.id as string, amountCents: 5_000, currency: 'USD' }
		const forged = signPayment({ ...paid, paidAt: server.clock.now }, 'a secret of somebody')
		const answer = await post(`${server.url}/payments/test/webhook`, forged)
		expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_signature' } })
		expect(await readInvoice(tenant, invoiceId)).toMatchObject({ status: 'draft', version: 1 })
	})
})
