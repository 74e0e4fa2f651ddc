// The answers that follow when a mail server, a payment processor, a provider or a resolver fails, or too much is asked at once: tests of
// every-operation.api.test.ts, which counts the answers of each operation.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Operation, operations } from '../src/platform/contract/routes.ts'
import { ResolverUnavailable } from '../src/platform/outside/resolver.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { png } from './images.ts'
import { secret } from './leaks.ts'
import { startMailServer } from './mail-server.ts'
import { made } from './sample.ts'
import { sampleOf } from './samples.ts'
import { FakeStripe } from './stripe.ts'
import { fromHubSpot } from './syncs.ts'

export function failAtOthers(): void {
	const stripe = new FakeStripe()
	let failing: TestServer
	beforeAll(async () => {
		await stripe.start()
		const settings = {
			// No program listens on port 1.
			SMTP_URL: 'smtp://127.0.0.1:1',
			MAIL_FROM: 'invoices@remit.example',
			PAYMENT_PROCESSOR: 'stripe' as const,
			STRIPE_SECRET_KEY: stripe.secretKey,
			STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
			STRIPE_API_BASE: stripe.apiBase,
			PROVIDER_HUBSPOT_BASE_URL: 'http://127.0.0.1:1',
		}
		failing = await startTestServer(settings, async (name) => {
			if (name === 'slow.example') throw new ResolverUnavailable()
			return [{ address: '127.0.0.1', family: 4 }]
		})
	})
	afterAll(async () => {
		await failing.close()
		await stripe.stop()
	})

	it('is 503 when it cannot be done now', async () => {
		const ids = await Promise.all(
			Array.from({ length: 70 }, async (_, n) => (await failing.remit.invoices.create({ notes: `${n}` })).id),
		)
		const [own, sent, shared] = [ids.slice(0, 30), ids.slice(30, 40), ids.slice(40)]
		const links = await Promise.all(shared.map((id) => failing.remit.invoices.clientLink.create(id)))
		const body = { to: 'client@acme.example' }
		// More than may wait for their PDF.
		const asked = [
			own.map((id) => failing.ask('GET', `/api/invoices/${id}/pdf`)),
			sent.map((id) => failing.ask('POST', `/api/invoices/${id}/send`, { body })),
			links.map(({ url }) => failing.ask('GET', `/api/invoices/public/${url.split('/').at(-1)}/pdf`, { key: null })),
			own.map((_, n) =>
				failing.ask('PUT', '/api/organization/logo', { body: { data: png(1, 1, [n, 0, 0]).toString('base64') } }),
			),
		]
		for (const answers of asked) {
			const busy = (await Promise.all(answers)).filter(({ status }) => status === 503)
			expect(busy[0]).toMatchObject({ body: { code: 'unavailable' } })
		}
		const url = 'https://slow.example/'
		const { id } = await failing.remit.webhooks.endpoints.create({ url: 'https://receiver.example/', eventTypes: ['*'] })
		const created = await failing.ask('POST', '/webhooks/endpoints', { body: { url, eventTypes: ['*'] } })
		const connected = { provider: 'http_json', name: 'Acme', authType: 'api_key', credentials: { apiKey: secret('k') } }
		const connect = (baseUrl: string) => failing.ask('POST', '/connections', { body: { ...connected, config: { baseUrl } } })
		const connection = `/connections/${(await connect('https://api.example')).body.id}`
		for (const answer of [
			created,
			await failing.ask('PATCH', `/webhooks/endpoints/${id}`, { body: { url } }),
			await connect(url),
			await failing.ask('PATCH', connection, { body: { config: { baseUrl: url } } }),
		])
			expect(answer).toMatchObject({ status: 503, body: { code: 'resolver_unavailable' } })
	})

	it('is 502, changes nothing, and may be tried again with the same Idempotency-Key', async () => {
		const id = (await failing.ask('POST', '/api/invoices', { body: { totalCents: 5_000 } })).body.id
		const before = (await failing.ask('GET', `/api/invoices/${id}`)).text
		const headers = { 'idempotency-key': 'again' }
		const send = () => failing.ask('POST', `/api/invoices/${id}/send`, { body: { to: 'client@acme.example' }, headers })
		for (const answer of [await send(), await send()]) {
			expect(answer).toMatchObject({ status: 502, body: { code: 'email_delivery_failed' } })
		}
		const pay = () => failing.ask('POST', `/api/invoices/${id}/payment-link`, { headers })
		const refusal = { status: 500, error: { type: 'api_error', message: 'Out of order' } }
		stripe.failures.push(refusal, refusal)
		expect(await pay()).toMatchObject({ status: 502, body: { code: 'payment_processor_failed' } })
		expect((await failing.ask('GET', `/api/invoices/${id}`)).text).toBe(before)
		expect((await failing.ask('GET', `/api/invoices/${id}/payment-link`)).status).toBe(404)
		const hubspot = { provider: 'hubspot', name: 'HubSpot', authType: 'api_key', credentials: { apiKey: secret('k') } }
		const connection = (await failing.ask('POST', '/connections', { body: hubspot })).body.id
		const schema = await failing.ask('GET', `/connections/${connection}/objects/companies/schema`)
		expect(schema).toMatchObject({ status: 502, body: { code: 'provider_failed', detail: expect.stringContaining('refused') } })
		const mapping = await sampleOf(operations.find(({ id }) => id === 'mappings.preview') as Operation).make?.(failing)
		const preview = await failing.ask('POST', `/mappings/${mapping}/preview`, { body: { connectionId: connection } })
		expect(preview).toMatchObject({ status: 502, body: { code: 'provider_failed' } })
		const mappingId = (await failing.ask('POST', '/mappings', { body: fromHubSpot })).body.id
		const input = { name: 'Companies', connectionId: connection, mappingId, direction: 'inbound', start: false }
		const sync = (await failing.ask('POST', '/syncs', { body: input })).body.id
		const link = await failing.ask('POST', `/syncs/${sync}/links`, { body: { externalId: '1', recordId: 'cmp_1' } })
		expect(link).toMatchObject({ status: 502, body: { code: 'provider_failed' } })
		expect(await pay()).toMatchObject({ status: 200, body: { url: expect.stringMatching(/^https:\/\/checkout\.stripe\.com/) } })
	})

	it('is 422 when the payment processor does not take the amount', async () => {
		const id = await made(failing, '/api/invoices', { totalCents: 1, currency: 'USD' })
		const asked = await failing.ask('POST', `/api/invoices/${id}/payment-link`)
		expect(asked).toMatchObject({ status: 422, body: { code: 'amount_not_payable' } })
	})

	it('is 409 while an e-mail is being sent, and once nobody knows whether it was', async () => {
		const mail = await startMailServer()
		const server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example' })
		const id = await made(server, '/api/invoices', { totalCents: 5_000 })
		const send = () => server.ask('POST', `/api/invoices/${id}/send`, { body: { to: 'client@acme.example' } })
		const [arrived, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
		mail.beforeAnswer = async () => {
			arrived.resolve()
			await asked.promise
			mail.hangUp()
		}
		const first = send()
		await arrived.promise
		expect(await send()).toMatchObject({ status: 409, body: { code: 'email_under_way' } })
		asked.resolve()
		expect(await first).toMatchObject({ status: 502, body: { code: 'email_outcome_unknown' } })
		expect(await send()).toMatchObject({ status: 409, body: { code: 'email_perhaps_sent' } })
		await server.close()
		await mail.close()
	})
}
