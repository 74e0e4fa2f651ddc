// Whoever asks for what changed since the last change that they have seen misses nothing, however long a change was under way.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { type MailServer, startMailServer } from '../../../test/mail-server.ts'

let mail: MailServer
let server: TestServer
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'billing@test.example' })
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

it.each([2, 600])('A change that was under way for %i seconds comes after those that were made meanwhile', async (seconds) => {
	const tenant = await server.newTenant()
	const { remit, clock } = tenant
	const { id: sentId } = await remit.invoices.create({ totalCents: 100 })
	const { id: paidId } = await remit.invoices.create({ totalCents: 100 })
	let since = 0
	// The clock stands still but for this, as it would on a machine that is busy with others.
	mail.beforeAnswer = async () => {
		clock.now += seconds * 1_000
		await remit.invoices.update(paidId, { status: 'paid' })
		since = (await remit.invoices.get(paidId)).updatedAt
	}
	await remit.invoices.send(sentId, { to: 'client@example.com' })
	const changed = (await remit.invoices.list({ updatedSince: since })).data
	expect(changed.map(({ id, status }) => [id, status]).sort()).toEqual(
		[
			[sentId, 'sent'],
			[paidId, 'paid'],
		].sort(),
	)
})
