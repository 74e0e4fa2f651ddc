// What an organization may send: to how many recipients a day, and to whom not.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { type MailServer, startMailServer } from '../../../test/mail-server.ts'
import { expectRefusal, Remit } from '../../../test/remit.ts'

const to = 'billing@acme.example'
const hour = 3_600_000
const day = 24 * hour

let mail: MailServer
let server: TestServer
beforeAll(async () => {
	const onRcptTo = ({ address }: { address: string }, _: unknown, done: (error?: Error) => void) =>
		done(address.startsWith('nobody') ? Object.assign(new Error('no such user'), { responseCode: 550 }) : undefined)
	mail = await startMailServer({ onRcptTo })
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example', MAIL_DAILY_LIMIT: 12 })
})
beforeEach(() => {
	mail.received.length = 0
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const send = async ({ remit, ask }: Tenant, body: object = {}) => {
	const { id } = await remit.invoices.create({ totalCents: 5_000 })
	return { id, ...(await ask('POST', `/api/invoices/${id}/send`, { body: { to, ...body } })) }
}

/** Expects 429, and that it left nothing behind; returns its `Retry-After`. */
async function expectLimit(tenant: Tenant, body: object = {}): Promise<number> {
	const arrived = mail.received.length
	const refused = await send(tenant, body)
	expect(refused).toMatchObject({ status: 429, body: { code: 'email_limit_reached' } })
	expect(mail.received).toHaveLength(arrived)
	expect((await tenant.remit.invoices.emails.list(refused.id)).data).toEqual([])
	expect((await tenant.remit.invoices.get(refused.id)).status).toBe('draft')
	return Number(refused.headers.get('retry-after'))
}

describe('the daily limit', () => {
	it('is a quarter for an organization in its first week, and counts recipients', async () => {
		const tenant = await server.newTenant()
		expect((await send(tenant, { cc: ['ada@acme.example'] })).status).toBe(200)
		server.clock.now += hour
		const refused = await send(tenant, { bcc: ['ada@acme.example'] })
		expect(refused.body.detail).toBe(
			'The organization may send mail to 3 recipients in 24 hours, and has sent to 2: try again in 82800 seconds.',
		)
		expect((await send(tenant)).status).toBe(200)
		expect(await expectLimit(tenant)).toBe(82_800)
		expect((await send(await server.newTenant())).status).toBe(200)

		server.clock.now += 23 * hour - 1_000
		expect(await expectLimit(tenant)).toBe(1)
		server.clock.now += 1_001
		expect((await send(tenant)).status).toBe(200)
		expect((await send(tenant)).status).toBe(200)
		expect(await expectLimit(tenant)).toBe(3_600)

		server.clock.now += 7 * day
		const eleven = { cc: Array.from({ length: 10 }, (_, index) => `copy${index}@acme.example`) }
		expect((await send(tenant, eleven)).status).toBe(200)
		expect((await send(tenant)).status).toBe(200)
		await expectLimit(tenant)
	})

	it('is not kept for an Idempotency-Key: the mail goes out once there is room', async () => {
		const tenant = await server.newTenant()
		for (const _ of [1, 2, 3]) expect((await send(tenant)).status).toBe(200)
		const { id } = await tenant.remit.invoices.create({ totalCents: 5_000 })
		const headers = { 'idempotency-key': 'limited' }
		const trySend = () => tenant.ask('POST', `/api/invoices/${id}/send`, { headers, body: { to } })
		server.clock.now += 23 * hour
		expect((await trySend()).status).toBe(429)
		server.clock.now += hour + 1
		expect((await trySend()).status).toBe(200)
	})

	it('counts an address that is named twice once, and says when there is room for all recipients of the mail', async () => {
		const tenant = await server.newTenant()
		expect((await send(tenant, { cc: [to], bcc: [to.toUpperCase()] })).status).toBe(200)
		server.clock.now += hour
		expect((await send(tenant, { cc: ['ada@acme.example'] })).status).toBe(200)
		server.clock.now += hour
		expect(await expectLimit(tenant)).toBe(22 * 3_600)
		expect(await expectLimit(tenant, { cc: ['ada@acme.example'] })).toBe(23 * 3_600)
		// More than a quarter of the limit, and more than all of it.
		const copies = (count: number) => ({ cc: Array.from({ length: count }, (_, index) => `copy${index}@acme.example`) })
		expect(await expectLimit(tenant, copies(4))).toBe((7 * day - 2 * hour) / 1_000)
		const { status, body } = await send(tenant, { ...copies(10), bcc: ['x@acme.example', 'y@acme.example'] })
		expect([status, body.detail]).toEqual([429, expect.stringContaining('never to 13 in one mail: send it to fewer')])
		server.clock.now += 23 * hour + 1
		expect((await send(tenant, { cc: ['ada@acme.example'] })).status).toBe(200)
	})

	it('counts mails that the mail server refused, and holds at every process', async () => {
		const tenant = await server.newTenant()
		for (const _ of [1, 2, 3]) expect((await send(tenant, { to: 'nobody@acme.example' })).status).toBe(502)
		await expectLimit(tenant)
		const other = await startTestServer({ ...server.settings })
		other.clock.now = server.clock.now
		const { id } = await tenant.remit.invoices.create({})
		const path = `/api/invoices/${id}/send`
		expect((await other.ask('POST', path, { key: tenant.key, body: { to } })).status).toBe(429)
		await other.close()
	})
})

describe('a suppressed address', () => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-suppress-'))
	let remit: Remit
	let tenant: Tenant
	beforeAll(async () => {
		const { DATABASE_URL = '', DATA_DIR } = server.settings
		remit = new Remit({ DATABASE_URL, DATA_DIR: DATA_DIR || folder }, folder)
		tenant = await server.newTenant()
	})
	afterAll(() => {
		remit.stop()
		rmSync(folder, { recursive: true })
	})

	it('gets no mail as any recipient of any organization, until the operator lifts it', async () => {
		expect(await remit.json(['mail', 'suppress', 'Gone@ACME.example', '--reason', 'bounce'])).toEqual({ ok: true })
		expect(await remit.json(['mail', 'suppress', 'angry@acme.example', '--reason', 'complaint'])).toEqual({ ok: true })
		expect(await remit.json(['mail', 'suppressed'])).toEqual([
			{ address: 'angry@acme.example', reason: 'complaint', suppressedAt: expect.any(Number) },
			{ address: 'gone@acme.example', reason: 'bounce', suppressedAt: expect.any(Number) },
		])
		const refused = await send(tenant, { to: 'GONE@acme.example', cc: [to, 'angry@acme.example'], bcc: ['gone@Acme.example'] })
		const code = 'recipient_suppressed'
		expect(refused).toMatchObject({ status: 422, body: { code } })
		expect(refused.body.errors).toEqual([
			{ pointer: '/to', code, detail: 'GONE@acme.example: mail to it has come back' },
			{ pointer: '/cc/1', code, detail: 'angry@acme.example: its owner has complained' },
			{ pointer: '/bcc/0', code, detail: 'gone@Acme.example: mail to it has come back' },
		])
		expect(mail.received).toEqual([])
		expect((await tenant.remit.invoices.emails.list(refused.id)).data).toEqual([])
		expect((await send(await server.newTenant(), { to: 'gone@acme.example' })).status).toBe(422)

		expect(await remit.json(['mail', 'unsuppress', 'gone@acme.EXAMPLE'])).toEqual({ ok: true })
		expect((await send(tenant, { to: 'gone@acme.example' })).status).toBe(200)
	})

	it.each([
		[['mail', 'suppress', 'acme.example', '--reason', 'bounce'], /^acme\.example: must be one address/],
		[['mail', 'suppress', to, '--reason', 'spam'], /^--reason spam: must be bounce or complaint/],
		[['mail', 'unsuppress', 'new@acme.example'], /^new@acme\.example: is not suppressed/],
	])('is not what %j is about', async (args, line) => {
		expectRefusal(await remit.run(args), line)
	})
})
