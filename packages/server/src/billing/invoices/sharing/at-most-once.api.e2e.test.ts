// What leaves, and what is said of it, when a mail server's answer, a process or the database is lost amid sending.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { type MailServer, startMailServer } from '../../../../test/mail-server.ts'
import { Remit } from '../../../../test/remit.ts'
import { query } from '../../../platform/db/database.ts'
import { concludeLostMails } from './conclude.ts'

const MAIL_FROM = 'invoices@remit.example'
const to = 'billing@acme.example'

let mail: MailServer
/** Two processes on one database, as far as a key or a mail under way is concerned. */
let server: TestServer
let other: TestServer
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM })
	other = await startTestServer({ ...server.settings })
})
beforeEach(() => {
	mail.received.length = 0
	mail.beforeAnswer = () => {}
})
afterAll(async () => {
	await other.close()
	await server.close()
	await mail.close()
})

const newInvoice = async () => (await server.remit.invoices.create({ totalCents: 5_000 })).id
const post = (id: string, body: object = {}, headers = {}, at = server) =>
	at.ask('POST', `/api/invoices/${id}/send`, { key: server.key, body: { to, ...body }, headers })
const statusOf = async (id: string) => (await server.remit.invoices.get(id)).status
const isPerhapsSent = async (id: string) => (await server.remit.invoices.sendStatus(id)).perhapsSent
const emailsOf = async (id: string) => (await server.remit.invoices.emails.list(id)).data
const typesOf = async (id: string) => (await eventsOf(server, server, id)).map(({ type }) => type)
const problem = (status: number, code: string) => ({ status, body: { code } })

/** The next mail arrives, and the server does not say so before the test has ended. */
function hold() {
	const [arrived, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
	mail.beforeAnswer = () => {
		arrived.resolve()
		return ended.promise
	}
	return { arrived: arrived.promise, end: ended.resolve }
}

describe('an e-mail whose connection is lost', () => {
	it('after its text was perhaps sent: the invoice stays, says so, and is mailed again only by a word', async () => {
		mail.beforeAnswer = () => mail.hangUp()
		const id = await newInvoice()
		const headers = { 'idempotency-key': `lost ${id}` }
		const first = await post(id, {}, headers)
		expect(first).toMatchObject(problem(502, 'email_outcome_unknown'))
		expect(first.body.detail).toMatch(/^The mail server dropped the connection\. The e-mail was perhaps sent: /)
		expect(await emailsOf(id)).toMatchObject([
			{ status: 'uncertain', reason: 'The mail server dropped the connection.', recipients: [] },
		])
		expect([await statusOf(id), await isPerhapsSent(id)]).toEqual(['draft', true])
		expect(await typesOf(id)).toEqual(['invoice.created', 'invoice.perhaps_sent'])
		const [email] = await emailsOf(id)
		expect((await eventsOf(server, server, id))[1]?.data).toEqual({ ...(await server.remit.invoices.get(id)), email })
		mail.beforeAnswer = () => {}
		expect(await post(id, {}, headers)).toMatchObject(problem(502, 'email_outcome_unknown'))
		expect(await post(id)).toMatchObject(problem(409, 'email_perhaps_sent'))
		expect(await post(id, { again: false })).toMatchObject(problem(409, 'email_perhaps_sent'))
		expect(mail.received).toHaveLength(1)
		expect((await post(id, { again: true })).body).toMatchObject({ ok: true })
		expect(mail.received).toHaveLength(2)
		expect([await statusOf(id), await isPerhapsSent(id)]).toEqual(['sent', false])
		expect((await emailsOf(id)).map(({ status }) => status)).toEqual(['accepted', 'uncertain'])
		expect((await post(id)).status).toBe(200)
	})

	it('amid its text was not sent, and may be sent at once', async () => {
		const cut = await startMailServer({ onData: (stream) => stream.once('data', () => cut.hangUp()) })
		const cutting = await startTestServer({ ...server.settings, SMTP_URL: cut.url })
		const { id } = await server.remit.invoices.create({ notes: 'Long. '.repeat(1_500) })
		expect(await post(id, {}, {}, cutting)).toMatchObject(problem(502, 'email_delivery_failed'))
		expect(await emailsOf(id)).toMatchObject([{ status: 'failed', reason: 'The mail server dropped the connection.' }])
		expect(await isPerhapsSent(id)).toBe(false)
		expect((await post(id)).status).toBe(200)
		await cutting.close()
		await cut.close()
	})
})

describe('while an e-mail is being sent', () => {
	it('its Idempotency-Key is in use at every process, and for every other request', async () => {
		const { arrived, end } = hold()
		const id = await newInvoice()
		const headers = { 'idempotency-key': `held ${id}` }
		const sending = post(id, {}, headers)
		await arrived
		for (const at of [server, other])
			expect(await post(id, {}, headers, at)).toMatchObject(problem(409, 'idempotency_key_in_use'))
		expect(await post(id, { message: 'Hi' }, headers, other)).toMatchObject(problem(422, 'idempotency_key_reused'))
		end()
		expect((await sending).status).toBe(200)
		expect((await post(id, {}, headers, other)).headers.get('idempotent-replayed')).toBe('true')
		expect(mail.received).toHaveLength(1)
	})

	it('no other of its invoice leaves, with a word or without', async () => {
		const { arrived, end } = hold()
		const id = await newInvoice()
		const sending = post(id)
		await arrived
		expect(await emailsOf(id)).toMatchObject([{ status: 'sending' }])
		for (const body of [{}, { again: true }])
			expect(await post(id, body, {}, other)).toMatchObject(problem(409, 'email_under_way'))
		end()
		expect((await sending).status).toBe(200)
		expect(await emailsOf(id)).toMatchObject([{ status: 'accepted' }])
	})

	it('one request of two that came at once sends it, and the other is told so', async () => {
		const { end } = hold()
		const id = await newInvoice()
		const both = [post(id), post(id, {}, {}, other)]
		// The mail server does not answer the one that has asked it before the other has its answer.
		expect(await Promise.race(both)).toMatchObject(problem(409, 'email_under_way'))
		end()
		expect((await Promise.all(both)).map(({ status }) => status).toSorted()).toEqual([200, 409])
		expect(mail.received).toHaveLength(1)
		expect(await emailsOf(id)).toMatchObject([{ status: 'accepted' }])
	})

	it('its invoice may be deleted, and the e-mail was sent all the same', async () => {
		const { arrived, end } = hold()
		const id = await newInvoice()
		const sending = post(id)
		await arrived
		await server.remit.invoices.delete(id)
		end()
		expect((await sending).status).toBe(200)
	})
})

describe('a server that stops while it sends an e-mail', () => {
	it('breaks it off, says that it was perhaps sent, and stores that', async () => {
		const stopping = await startTestServer({ ...server.settings, SHUTDOWN_SECONDS: 2 })
		const { arrived, end } = hold()
		const id = await newInvoice()
		const sending = post(id, {}, {}, stopping)
		await arrived
		const closed = stopping.close()
		expect(await sending).toMatchObject(problem(502, 'email_outcome_unknown'))
		await closed
		end()
		const reason = 'The server stopped before the mail server had answered.'
		expect(await emailsOf(id)).toMatchObject([{ status: 'uncertain', reason }])
		expect(await post(id)).toMatchObject(problem(409, 'email_perhaps_sent'))
	})
})

describe('a server that is killed while it sends an e-mail', () => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-mail-crash-'))
	let remit: Remit
	beforeAll(() => {
		const { DATABASE_URL = '', DATA_DIR = '', ENCRYPTION_KEYS = '' } = server.settings
		remit = new Remit({ DATABASE_URL, DATA_DIR, ENCRYPTION_KEYS, SMTP_URL: mail.url, MAIL_FROM }, folder)
	})
	afterAll(() => {
		remit.stop()
		rmSync(folder, { recursive: true })
	})

	it.each([
		['time passes', [60_000, 120_000]],
		['the clock is set back an hour', [-3_600_000, 0]],
	])('leaves it perhaps sent when %s: no repetition mails it again, whatever its key and its body', async (_, [first, then]) => {
		const id = await newInvoice()
		const before = server.clock.now
		server.clock.now = Date.now()
		const { url, end: kill } = await remit.serve()
		const { arrived, end } = hold()
		const received = mail.received.length
		const headers = {
			authorization: `Bearer ${server.key}`,
			'content-type': 'application/json',
			'idempotency-key': `killed ${id}`,
		}
		// A repetition has the same body, and so the same word.
		const body = JSON.stringify({ to, again: true })
		const lost = fetch(`${url}/api/invoices/${id}/send`, { method: 'POST', headers, body }).catch(() => 'lost')
		await arrived
		await kill('SIGKILL')
		end()
		expect(await lost).toBe('lost')
		const repeat = () => post(id, { again: true }, { 'idempotency-key': `killed ${id}` })
		mail.beforeAnswer = () => {}

		expect(await repeat()).toMatchObject(problem(409, 'idempotency_key_in_use'))
		expect(await post(id, { again: true })).toMatchObject(problem(409, 'email_under_way'))
		await concludeLostMails(server.db, () => server.clock.now)
		expect(await emailsOf(id)).toMatchObject([{ status: 'sending' }])

		server.clock.now += first as number
		expect(await isPerhapsSent(id)).toBe(true)
		expect(await post(id)).toMatchObject(problem(409, 'email_perhaps_sent'))
		for (const _ of ['', 'again']) await concludeLostMails(server.db, () => server.clock.now)
		const reason = 'The server ended before the mail server had answered.'
		expect(await emailsOf(id)).toMatchObject([{ status: 'uncertain', reason }])
		expect(await typesOf(id)).toEqual(['invoice.created', 'invoice.perhaps_sent'])

		server.clock.now += then as number
		expect(await repeat()).toMatchObject(problem(502, 'email_outcome_unknown'))
		expect(mail.received.length - received).toBe(1)
		expect(await statusOf(id)).toBe('draft')
		expect((await post(id, { again: true })).status).toBe(200)
		expect(mail.received.length - received).toBe(2)
		server.clock.now = before
	})
})

describe('a database that fails once the mail server has the e-mail', () => {
	const run = (sql: string) =>
		server.db.transaction((tx) =>
			tx.run(
				query((knex) => knex.raw(sql)),
				{},
			),
		)
	const sqlite = () => server.db.dialect === 'sqlite'
	const fail = () =>
		run(
			sqlite()
				? `create trigger broken before update on mails begin select raise(abort, 'broken'); end`
				: `alter table mails add constraint broken check (status = 'sending') not valid`,
		)
	const mend = () => run(sqlite() ? 'drop trigger broken' : 'alter table mails drop constraint broken')

	it('gets the outcome as soon as it works, and the repeated request its answer without a second e-mail', async () => {
		const id = await newInvoice()
		mail.beforeAnswer = async () => void (await fail())
		const headers = { 'idempotency-key': `failing ${id}` }
		const failed = await post(id, {}, headers)
		expect(failed).toMatchObject(problem(502, 'email_outcome_unknown'))
		expect(failed.body.detail).toMatch(/^The mail server has taken the e-mail/)
		mail.beforeAnswer = () => {}
		server.clock.now += 1_000
		expect(await post(id, {}, headers)).toMatchObject(problem(409, 'email_under_way'))
		await mend()
		await vi.waitFor(async () => expect(await statusOf(id)).toBe('sent'), { timeout: 10_000, interval: 100 })
		expect(await emailsOf(id)).toMatchObject([{ status: 'accepted', recipients: [{ address: to, accepted: true }] }])
		const { status, body } = await post(id, {}, headers)
		expect([status, body]).toMatchObject([200, { ok: true }])
		expect(mail.received).toHaveLength(1)
		expect(await typesOf(id)).toEqual(['invoice.created', 'invoice.updated', 'invoice.sent'])
	})

	it('still tells the caller what the mail server has answered', async () => {
		const refusing = await startMailServer({
			onRcptTo: (_, __, done) => done(Object.assign(new Error('no'), { responseCode: 550 })),
		})
		const sender = await startTestServer({ ...server.settings, SMTP_URL: refusing.url })
		const id = await newInvoice()
		await fail()
		expect(await post(id, {}, {}, sender)).toMatchObject(problem(502, 'email_delivery_failed'))
		await mend()
		await vi.waitFor(async () => expect(await emailsOf(id)).toMatchObject([{ status: 'failed' }]), {
			timeout: 10_000,
			interval: 100,
		})
		await sender.close()
		await refusing.close()
	})
})
