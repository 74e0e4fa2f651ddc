// The answers that follow from how the operator has set the server up: tests of every-operation.api.test.ts, which counts the answers of
// each operation.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'
import { made } from './sample.ts'

export function answerByTheirSettings(): void {
	let bare: TestServer
	let sparing: TestServer
	let idle: TestServer
	beforeAll(async () => {
		bare = await startTestServer({ SMTP_URL: 'none', MAIL_FROM: '', PAYMENT_PROCESSOR: 'none' })
		sparing = await startTestServer({ MAIL_DAILY_LIMIT: 1 })
		idle = await startTestServer({ ROLE: 'api' })
	})
	afterAll(async () => {
		await bare.close()
		await sparing.close()
		await idle.close()
	})
	const to = 'client@acme.example'

	it('without a mail server and a payment processor is 409', async () => {
		const path = `/api/invoices/${await made(bare, '/api/invoices', { totalCents: 5_000 })}`
		const sent = await bare.ask('POST', `${path}/send`, { body: { to } })
		expect(sent).toMatchObject({ status: 409, body: { code: 'email_not_configured' } })
		const asked = await bare.ask('POST', `${path}/payment-link`)
		expect(asked).toMatchObject({ status: 409, body: { code: 'payment_processor_not_configured' } })
	})

	it('with a limit of mails is 429 once it is reached', async () => {
		const invite = (email: string) => sparing.ask('POST', '/api/invitations', { body: { email, role: 'member' } })
		const { id } = (await invite('grace@people.example')).body
		const invoice = await made(sparing, '/api/invoices', { totalCents: 5_000 })
		for (const answer of [
			await invite('ada@people.example'),
			await sparing.ask('POST', `/api/invitations/${id}/resend`),
			await sparing.ask('POST', `/api/invoices/${invoice}/send`, { body: { to } }),
		])
			expect(answer).toMatchObject({ status: 429, body: { code: 'email_limit_reached' } })
	})

	it('without a worker is 409 while more deliveries are to be skipped than a request does', async () => {
		const endpoint = { url: 'https://receiver.example/hook', eventTypes: ['*'] }
		const path = `/webhooks/endpoints/${await made(idle, '/webhooks/endpoints', endpoint)}`
		for (let first = 0; first < 260; first += 20)
			await Promise.all(Array.from({ length: 20 }, () => idle.ask('POST', `${path}/test`)))
		for (const status of ['paused', 'active']) await idle.ask('PATCH', path, { body: { status } })
		const again = await idle.ask('POST', `${path}/redeliver`)
		expect(again).toMatchObject({ status: 409, body: { code: 'delivery_under_way' } })
	})
}
