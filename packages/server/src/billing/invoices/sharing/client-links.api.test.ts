// The link by which a client sees an invoice: an invoice has one at a time, it needs a secret outside the database, and it
// stops working once it is revoked.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { encryptionKey } from '../../../../test/leaks.ts'
import { type MailServer, startMailServer } from '../../../../test/mail-server.ts'
import { type Database, query } from '../../../platform/db/database.ts'

const BASE_URL = 'https://billing.example'
const [first, second] = [1, 2].map((byte) => encryptionKey(byte)) as [string, string]
const password = 'pa55-of-the-mail-server'

let mail: MailServer
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	mail = await startMailServer({ disabledCommands: ['STARTTLS'], onAuth: (_, __, done) => done(null, { user: 'remit' }) })
	const SMTP_URL = mail.url.replace('//', `//remit:${password}@`)
	const settings = { BASE_URL, ENCRYPTION_KEYS: first, SMTP_URL, MAIL_FROM: 'invoices@remit.example' }
	server = await startTestServer({ ...settings, PAYMENT_PROCESSOR: 'test' })
	tenant = await server.newTenant()
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const create = async ({ ask }: Tenant = tenant): Promise<string> =>
	(await ask('POST', '/api/invoices', { body: { totalCents: 5_000 } })).body.id
const link = (method: string, id: string, options = {}) => tenant.ask(method, `/api/invoices/${id}/client-link`, options)
const urlOf = async (id: string): Promise<string> => (await link('POST', id)).body.url
const tokenOf = (url: string) => url.split('/').at(-1) as string
const opens = async (url: string, { ask }: Tenant = server) =>
	(await ask('GET', `/api/invoices/public/${tokenOf(url)}`, { key: null })).status

describe('the client link', () => {
	it('is not there before it is made, and then stays the same', async () => {
		const id = await create()
		expect(await link('GET', id)).toMatchObject({ status: 404, body: { code: 'client_link_not_found' } })
		const url = await urlOf(id)
		expect(url).toMatch(/^https:\/\/billing\.example\/view\/invoice\/[A-Za-z0-9_-]{32}$/)
		expect(await urlOf(id)).toBe(url)
		expect((await link('GET', id)).body).toEqual({ url })
		expect(await opens(url)).toBe(200)
		expect(await urlOf(await create())).not.toBe(url)
	})

	it('is one, however many ask for it at once', async () => {
		const id = await create()
		const urls = await Promise.all(Array.from({ length: 50 }, () => urlOf(id)))
		expect(new Set(urls).size).toBe(1)
		expect(await opens(urls[0] as string)).toBe(200)
	})

	it('works no more once it is revoked; the next one is another', async () => {
		const id = await create()
		const url = await urlOf(id)
		expect((await link('DELETE', id)).body).toEqual({ ok: true })
		expect(await opens(url)).toBe(404)
		for (const method of ['GET', 'DELETE'])
			expect(await link(method, id)).toMatchObject({ status: 404, body: { code: 'client_link_not_found' } })
		const next = await urlOf(id)
		expect(next).not.toBe(url)
		expect([await opens(url), await opens(next)]).toEqual([404, 200])
	})

	it('goes with its invoice', async () => {
		const id = await create()
		const url = await urlOf(id)
		await tenant.remit.invoices.delete(id)
		expect(await opens(url)).toBe(404)
		for (const method of ['GET', 'POST', 'DELETE'])
			expect(await link(method, id)).toMatchObject({ status: 404, body: { code: 'invoice_not_found' } })
	})

	it('changes nothing of its invoice', async () => {
		const id = await create()
		const read = async () => (await tenant.ask('GET', `/api/invoices/${id}`)).text
		const before = await read()
		await urlOf(id)
		await link('DELETE', id)
		expect(await read()).toBe(before)
	})

	it('is for those who may see, and made and revoked by those who may write', async () => {
		const id = await create()
		await urlOf(id)
		const { key } = await tenant.newKey(['invoices:read'])
		const statuses = async (options: object) =>
			Promise.all(['GET', 'POST', 'DELETE'].map(async (method) => (await link(method, id, options)).status))
		expect(await statuses({ key })).toEqual([200, 403, 403])
		expect(await statuses({ key: null })).toEqual([401, 401, 401])
		expect(await statuses({ key: server.key })).toEqual([404, 404, 404])
		expect((await link('GET', id)).status).toBe(200)
	})
})

describe("the server's secret", () => {
	/** Runs `look` on another server with the same database and these keys. */
	async function on<T>(ENCRYPTION_KEYS: string, look: (other: TestServer) => Promise<T>): Promise<T> {
		const other = await startTestServer({ ...server.settings, ENCRYPTION_KEYS })
		try {
			return await look(other)
		} finally {
			await other.close()
		}
	}

	it('gives every server that has it the same links, also after a newer key came', async () => {
		const [id, fresh] = [await create(), await create()]
		const url = await urlOf(id)
		const { key } = tenant
		const made = await on(`${second},${first}`, async ({ ask }) => {
			expect((await ask('GET', `/api/invoices/${id}/client-link`, { key })).body).toEqual({ url })
			expect((await ask('POST', `/api/invoices/${id}/client-link`, { key })).body).toEqual({ url })
			return (await ask('POST', `/api/invoices/${fresh}/client-link`, { key })).body.url
		})
		expect((await link('GET', id)).body).toEqual({ url })
		// The other server made this link with its newest key, which this server does not have.
		expect((await link('GET', fresh)).status).toBe(404)
		expect([await opens(url), await opens(made)]).toEqual([200, 200])
	})

	it('that is lost leaves its links working, but the API can only show a new one', async () => {
		const id = await create()
		const url = await urlOf(id)
		const { key } = tenant
		await on(second, async ({ ask }) => {
			expect((await ask('GET', `/api/invoices/${id}/client-link`, { key })).status).toBe(404)
			expect(await opens(url)).toBe(200)
			const made = (await ask('POST', `/api/invoices/${id}/client-link`, { key })).body.url
			expect(made).not.toBe(url)
			expect([await opens(url), await opens(made)]).toEqual([404, 200])
		})
	})
})

describe('the database', () => {
	const tablesOf = {
		sqlite: query<object, { name: string }>((knex) => knex('sqlite_master').where('type', 'table').select('name')),
		postgres: query<object, { name: string }>((knex) =>
			knex('information_schema.tables').where('table_schema', 'public').select({ name: 'table_name' }),
		),
	}

	/** Every value of every row. */
	async function dump(db: Database): Promise<string> {
		const tables = await db.all(tablesOf[db.dialect], {})
		const rows = tables.map(({ name }) =>
			db.all(
				query((knex) => knex(name).select('*')),
				{},
			),
		)
		return JSON.stringify(await Promise.all(rows))
	}

	/** Creates an invoice with a link and uses the link in every way. */
	async function shared(headers = {}) {
		const id = await create()
		const url = (await link('POST', id, { headers })).body.url
		const token = tokenOf(url)
		await opens(url)
		await fetch(`${server.url}/view/invoice/${token}`)
		const key = { 'idempotency-key': `for ${id}` }
		expect((await tenant.ask('POST', `/api/invoices/${id}/payment-link`, { headers: key })).status).toBe(200)
		const sent = await tenant.ask('POST', `/api/invoices/${id}/send`, { headers: key, body: { to: 'ada@acme.example' } })
		expect(sent.status).toBe(200)
		expect(mail.received.at(-1)?.email.text).toContain(token)
		return token
	}

	it('holds neither the token of a link, nor an API key, nor the password of the mail server', async () => {
		const token = await shared()
		const everything = await dump(server.db)
		expect(everything).toContain('client_link')
		for (const secret of [token, tenant.key, tenant.key.split('_')[1] as string, password, first])
			expect(everything).not.toContain(secret)
	})

	it('holds no token either when its link was asked for with an Idempotency-Key', async () => {
		const token = await shared({ 'idempotency-key': 'the link' })
		expect(await dump(server.db)).not.toContain(token)
	})
})
