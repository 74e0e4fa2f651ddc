// Delivers an invoice's mail once for an Idempotency-Key. When the mail server fails, or none is set up, nothing is sent and the
// invoice stays as it is.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import type { SMTPServerOptions } from 'smtp-server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { type MailServer, pdfText, startMailServer } from '../../../../test/mail-server.ts'

const MAIL_FROM = 'invoices@remit.example'
const to = 'billing@acme.example'

/** A recipient that the mail server rejects, and one for which it waits until the test resolves `hold`. */
const unknown = 'nobody@acme.example'
const slow = 'slow@acme.example'
let hold: PromiseWithResolvers<void>
let waiting: PromiseWithResolvers<void>
const onRcptTo: SMTPServerOptions['onRcptTo'] = async ({ address }, _, done) => {
	if (address === slow) {
		waiting.resolve()
		await hold.promise
	}
	done(address === unknown ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null)
}

let mail: MailServer
let server: TestServer
beforeAll(async () => {
	mail = await startMailServer({ onRcptTo })
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM })
})
afterEach(() => {
	mail.received.length = 0
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const create = async ({ remit }: Tenant = server) => (await remit.invoices.create({ totalCents: 5_000 })).id
const read = (id: string) => server.ask('GET', `/api/invoices/${id}`)
const post = (id: string, body: unknown, headers = {}) => server.ask('POST', `/api/invoices/${id}/send`, { body, headers })
const events = async (id: string) => (await eventsOf(server, server, id)).map(({ type }) => type)

describe('an Idempotency-Key', () => {
	it('repeated brings one mail, and belongs to one invoice and one request', async () => {
		const [id, other] = [await create(), await create()]
		const headers = { 'idempotency-key': 'send-once' }
		const first = await post(id, { to }, headers)
		const second = await post(id, { to }, headers)
		expect([first, second].map(({ status }) => status)).toEqual([200, 200])
		expect(second.text).toBe(first.text)
		expect(second.headers.get('idempotent-replayed')).toBe('true')
		expect(mail.received).toHaveLength(1)
		expect(await events(id)).toEqual(['invoice.created', 'invoice.updated', 'invoice.sent'])
		for (const reused of [await post(other, { to }, headers), await post(id, { to: slow }, headers)])
			expect(reused).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
		expect(mail.received).toHaveLength(1)
	})

	it('whose request is under way is in use', async () => {
		;[hold, waiting] = [Promise.withResolvers(), Promise.withResolvers()]
		const id = await create()
		const headers = { 'idempotency-key': 'send-slowly' }
		const sending = post(id, { to: slow }, headers)
		await waiting.promise
		expect(await post(id, { to: slow }, headers)).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
		expect((await read(id)).body.data.status).toBe('draft')
		hold.resolve()
		expect((await sending).status).toBe(200)
		expect((await post(id, { to: slow }, headers)).headers.get('idempotent-replayed')).toBe('true')
		expect(mail.received).toHaveLength(1)
	})
})

/** The detail of the error when an invoice cannot be sent. */
async function failure({ ask }: TestServer, id: string, address: string, headers = {}): Promise<string> {
	const { status, body } = await ask('POST', `/api/invoices/${id}/send`, { key: server.key, body: { to: address }, headers })
	expect([status, body.code]).toEqual([502, 'email_delivery_failed'])
	return body.detail
}

describe('a mail server', () => {
	it('that refuses the recipient is quoted, changes nothing, and can be asked again with the same Idempotency-Key', async () => {
		const id = await create()
		const before = (await read(id)).text
		const headers = { 'idempotency-key': 'send-in-vain' }
		for (const _ of ['first', 'second']) {
			expect(await failure(server, id, unknown, headers)).toBe('The mail server answered "550 no such user".')
		}
		expect((await read(id)).text).toBe(before)
		expect(await events(id)).toEqual(['invoice.created', 'invoice.send_failed', 'invoice.send_failed'])
		expect((await post(id, { to }, headers)).headers.get('idempotent-replayed')).toBeNull()
		expect(mail.received).toHaveLength(1)
	})

	it('that refuses a copy is quoted in the answer and in the history, and the invoice is sent', async () => {
		const id = await create()
		const { status, body } = await post(id, { to, cc: [unknown] })
		expect(status).toBe(200)
		const detail = `The mail server answered "550 no such user" for ${unknown}: this copy was not sent.`
		expect(body.warnings).toContainEqual({ code: 'copy_refused', detail })
		expect(mail.received.map(({ to }) => to)).toEqual([[to]])
		const [email] = (await server.remit.invoices.emails.list(id)).data
		const recipients = [
			{ address: to, accepted: true, answer: null },
			{ address: unknown, accepted: false, answer: '550 no such user' },
		]
		expect(email).toMatchObject({ status: 'accepted', recipients })
	})

	it('that refuses the recipient and takes a copy fails the request, and the history says that the copy left', async () => {
		const id = await create()
		expect((await post(id, { to: unknown, bcc: [to] })).body).toMatchObject({
			code: 'email_delivery_failed',
			detail: `The mail server answered "550 no such user". That was for ${unknown}; it took the mail for billing@acme.example.`,
		})
		expect((await read(id)).body.data.status).toBe('draft')
		const [email] = (await server.remit.invoices.emails.list(id)).data
		const recipients = [
			{ address: unknown, accepted: false, answer: '550 no such user' },
			{ address: to, accepted: true, answer: null },
		]
		expect(email).toMatchObject({
			status: 'failed',
			reason: expect.stringMatching(/^The mail server answered "550 no such user"/),
			recipients,
		})
		const [, { type, data }] = (await server.ask('GET', `/webhooks/events?resourceId=${id}`)).body.data
		expect({ type, data }).toEqual({ type: 'invoice.send_failed', data: { ...(await read(id)).body.data, email } })
		const [entry] = (await server.ask('GET', `/api/invoices/${id}/history`)).body.data
		expect(entry).toMatchObject({ action: 'emailed', after: { mailId: email?.id, status: 'failed', recipients } })
	})

	it('that hangs up, never answers or is not there fails the request and changes nothing', async () => {
		let meet = (socket: Socket): void => void socket.destroy()
		const far = createServer((socket) => meet(socket))
		await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve))
		const { port } = far.address() as AddressInfo
		// A second server on the same database.
		const SMTP_URL = `smtp://127.0.0.1:${port}?greetingTimeout=200`
		const other = await startTestServer({ ...server.settings, SMTP_URL })
		const id = await create()
		const before = (await read(id)).text
		expect(await failure(other, id, to)).toBe('The mail server dropped the connection.')
		const silent = Promise.withResolvers<Socket>()
		meet = (socket) => silent.resolve(socket)
		expect(await failure(other, id, to)).toBe('The mail server did not answer in time.')
		;(await silent.promise).destroy()
		await new Promise((resolve) => far.close(resolve))
		expect(await failure(other, id, to)).toBe('The mail server refused the connection.')
		expect((await read(id)).text).toBe(before)
		expect(await events(id)).toEqual(['invoice.created', ...Array(3).fill('invoice.send_failed')])
		await other.close()
	})
})

describe('how mail is set up', () => {
	const folder = mkdtemp(join(tmpdir(), 'remit-mail-'))
	afterAll(async () => rm(await folder, { recursive: true }))

	it('is reported', async () => {
		const { body } = await server.ask('GET', `/api/invoices/${await create()}/send`)
		expect(body).toEqual({ configured: true, transport: 'smtp', from: MAIL_FROM, missing: [], perhapsSent: false })
	})

	it.each([
		[
			{ SMTP_URL: 'none', MAIL_FROM: '' },
			{ transport: 'none', missing: ['SMTP_URL', 'MAIL_FROM'] },
		],
		[
			{ SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: '' },
			{ transport: 'smtp', missing: ['MAIL_FROM'] },
		],
	])('as %j is reported, and nothing is sent', async (settings, report) => {
		const other = await startTestServer({ ...server.settings, ...settings })
		const { key } = server
		const id = await create()
		const path = `/api/invoices/${id}/send`
		expect((await other.ask('GET', path, { key })).body).toEqual({ configured: false, from: null, perhapsSent: false, ...report })
		const { status, body } = await other.ask('POST', path, { key, body: { to } })
		expect([status, body.code]).toEqual([409, 'email_not_configured'])
		for (const name of report.missing) expect(body.detail).toContain(name)
		expect(await events(id)).toEqual(['invoice.created'])
		await other.close()
	})

	it('may be a folder, into which each mail goes as a file', async () => {
		const other = await startTestServer({ SMTP_URL: `file:${await folder}`, MAIL_FROM: '' })
		const id = await create(other)
		const sent = await other.ask('GET', `/api/invoices/${id}/send`)
		expect(sent.body).toEqual({
			configured: true,
			transport: 'file',
			from: 'invoices@localhost',
			missing: [],
			perhapsSent: false,
		})
		await other.remit.invoices.send(id, { to, message: 'Grüße' })
		const [name, ...more] = await readdir(await folder)
		expect([name, more]).toEqual([expect.stringMatching(/\.eml$/), []])
		const email = await PostalMime.parse(await readFile(join(await folder, name as string)))
		expect(email).toMatchObject({ subject: 'Invoice INV-0001 from Test Ltd', to: [{ address: to }] })
		expect(email.text).toContain('Grüße')
		expect(await pdfText(new Uint8Array(email.attachments[0]?.content as ArrayBuffer))).toContain('INV-0001')
		await other.close()
	})
})
