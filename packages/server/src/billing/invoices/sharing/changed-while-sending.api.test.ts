// What an invoice says once it was mailed while somebody changed it, its company, the settings or the logo.
import { hash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { png } from '../../../../test/images.ts'
import { type MailServer, pdfText, startMailServer } from '../../../../test/mail-server.ts'

let mail: MailServer
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	mail = await startMailServer()
	server = await startTestServer({ SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example' })
})
beforeEach(async () => {
	mail.received.length = 0
	mail.beforeAnswer = () => {}
	tenant = await server.newTenant({ name: 'Before Ltd', accentColor: '#0f5c4d' })
	await putLogo(red)
})
afterAll(async () => {
	await server.close()
	await mail.close()
})

const [red, green] = [png(40, 10, [200, 0, 0]), png(30, 30, [0, 120, 0])]
const shaOf = (bytes: Uint8Array) => hash('sha256', bytes)
const putLogo = (bytes: Buffer) => tenant.ask('PUT', '/api/organization/logo', { body: { data: bytes.toString('base64') } })
const create = async (fields: object = {}) => {
	const body = { lineItems: [{ description: 'Workshop', unitPriceCents: 5_000 }], dueDate: '2030-01-01', ...fields }
	return (await tenant.ask('POST', '/api/invoices', { body })).body.id as string
}
const send = (id: string) => tenant.ask('POST', `/api/invoices/${id}/send`, { body: { to: 'ada@acme.example' } })
const read = (id: string) => tenant.remit.invoices.get(id)
const typesOf = async (id: string) => (await eventsOf(server, tenant, id)).map(({ type }) => type)
const attached = (index = 0) => {
	const file = mail.received[index]?.email.attachments.find(({ mimeType }) => mimeType === 'application/pdf')
	return Buffer.from(file?.content as ArrayBuffer)
}

describe('what changes while the mail server has the e-mail', () => {
	it('in the company, the settings and the logo is not on the invoice: it says what was mailed', async () => {
		const { id: companyId } = await tenant.remit.companies.create({ name: 'Acme before' })
		const id = await create({ companyId })
		mail.beforeAnswer = async () => {
			await tenant.remit.companies.update(companyId, { name: 'Acme after', language: 'de' })
			await tenant.remit.organization.update({ name: 'After Ltd', accentColor: null, timeZone: 'Asia/Tokyo', locale: 'en-GB' })
			await putLogo(green)
		}
		expect((await send(id)).body).toEqual({ ok: true })
		expect(await read(id)).toMatchObject({
			...{ status: 'sent', billTo: { name: 'Acme before' }, billFrom: { name: 'Before Ltd' }, language: 'en', locale: 'en-US' },
			...{ timeZone: 'UTC', branding: { accentColor: '#0f5c4d', logo: { sha256: shaOf(red) } } },
		})
		expect(Buffer.from(await tenant.remit.invoices.pdf(id)).equals(attached())).toBe(true)
		// The bytes of the logo are there for whatever is rendered later.
		const { url } = await tenant.remit.invoices.clientLink.create(id)
		expect((await (await fetch(url)).text()).includes(`data:image/png;base64,${red.toString('base64')}`)).toBe(true)
	})

	it('in what is paid of the invoice leaves it paid, and sent', async () => {
		const id = await create()
		let payment = ''
		mail.beforeAnswer = async () => {
			mail.beforeAnswer = () => {}
			payment = (await tenant.remit.payments.create({ invoiceId: id, amountCents: 5_000 })).id
		}
		expect((await send(id)).body.ok).toBe(true)
		expect(await read(id)).toMatchObject({ status: 'paid', sentAt: expect.any(Number) })
		expect(await typesOf(id)).toContain('invoice.sent')
		await tenant.remit.payments.reverse(payment)
		expect(await read(id)).toMatchObject({ status: 'sent', amountDueCents: 5_000 })
	})

	it('in its client link, which is revoked, leaves the link of the e-mail dead, and the next e-mail has another', async () => {
		const id = await create()
		mail.beforeAnswer = async () => {
			mail.beforeAnswer = () => {}
			await tenant.remit.invoices.clientLink.delete(id)
		}
		expect((await send(id)).body.ok).toBe(true)
		await expect(tenant.remit.invoices.clientLink.get(id)).rejects.toMatchObject({ code: 'client_link_not_found' })
		await send(id)
		const { url } = await tenant.remit.invoices.clientLink.get(id)
		expect(mail.received[0]?.email.text).not.toContain(url)
		expect(mail.received[1]?.email.text).toContain(url)
	})

	it('in the invoice leaves it a draft, of which the answer says that its client has another one', async () => {
		const id = await create()
		mail.beforeAnswer = async () => {
			mail.beforeAnswer = () => {}
			await tenant.remit.invoices.update(id, { lineItems: [{ description: 'Seminar', unitPriceCents: 7_000 }] })
		}
		expect((await send(id)).body).toEqual({
			ok: true,
			warnings: [
				{ code: 'no_buyer', detail: expect.any(String) },
				{ code: 'changed_while_sending', detail: expect.any(String) },
			],
		})
		expect(await read(id)).toMatchObject({ status: 'draft', sentAt: null, billFrom: null, branding: null, totalCents: 7_000 })
		expect((await tenant.remit.invoices.emails.list(id)).data).toMatchObject([{ status: 'accepted' }])
		expect(await typesOf(id)).toEqual(['invoice.created', 'invoice.updated'])
		const history = (await tenant.ask('GET', `/api/invoices/${id}/history`)).body.data
		expect(history.map(({ action }: { action: string }) => action)).toEqual(['emailed', 'updated', 'shared', 'created'])
		expect((await send(id)).body.warnings).toMatchObject([{ code: 'no_buyer' }])
		expect(await pdfText(attached(1))).toContain('Seminar')
		expect(await read(id)).toMatchObject({ status: 'sent', totalCents: 7_000 })
	})
})

if (inject('database') === 'postgres') {
	/** A transaction that another one comes to wait for. */
	const holding = async (work: (client: pg.Client) => Promise<unknown>, request: () => Promise<unknown>) => {
		const client = new pg.Client(server.settings.DATABASE_URL)
		await client.connect()
		await client.query('begin')
		await work(client)
		const answer = request()
		const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
		await expect.poll(async () => (await client.query(waiting)).rowCount, { timeout: 10_000 }).toBeGreaterThan(0)
		await client.query('commit')
		await client.end()
		return answer
	}
	/** The logo is replaced as `PUT …/logo` does it, up to its commit. */
	const replaceLogo = async (client: pg.Client) => {
		const { logo } = await tenant.remit.organization.get()
		const key = [tenant.organizationId, shaOf(green)]
		await client.query('select 1 from organizations where "organizationId" = $1 for update', key.slice(0, 1))
		await client.query('insert into logos ("organizationId", sha256, bytes, "createdAt") values ($1, $2, $3, 0)', [...key, green])
		const next = JSON.stringify({ ...logo, sha256: shaOf(green), width: 30, height: 30, size: green.length })
		await client.query('update organizations set logo = $2, version = version + 1 where "organizationId" = $1', [key[0], next])
		await client.query('delete from logos where "organizationId" = $1 and sha256 = $2 and "usedAt" is null', [
			...[tenant.organizationId, shaOf(red)],
		])
	}
	const stored = async () => {
		const client = new pg.Client(server.settings.DATABASE_URL)
		await client.connect()
		const { rows } = await client.query('select sha256, "usedAt" is not null as used from logos where "organizationId" = $1', [
			tenant.organizationId,
		])
		await client.end()
		return rows
	}

	describe('a logo that is replaced at the same time', () => {
		it('by a change of the status: the invoice has the new one, with its bytes', async () => {
			const id = await create()
			await holding(replaceLogo, () => tenant.remit.invoices.update(id, { status: 'sent' }))
			expect((await read(id)).branding?.logo?.sha256).toBe(shaOf(green))
			expect(await stored()).toEqual([{ sha256: shaOf(green), used: true }])
		})

		it('by an e-mail: the e-mail is made again, with the new one', async () => {
			const id = await create()
			await holding(replaceLogo, () => send(id))
			expect(mail.received[0]?.raw.includes(green.toString('base64').slice(0, 40))).toBe(true)
			expect((await read(id)).branding?.logo?.sha256).toBe(shaOf(green))
			expect(await stored()).toEqual([{ sha256: shaOf(green), used: true }])
		})
	})

	it('An invoice that changes before its e-mail leaves is mailed as it is then, and warned of as it is then', async () => {
		const id = await create({ notes: 'Before' })
		const change = async (client: pg.Client) => {
			await client.query('lock table invoices in exclusive mode')
			await client.query(`update invoices set notes = 'After 😀', version = version + 1 where id = $1`, [id])
		}
		expect(await holding(change, () => send(id))).toMatchObject({
			body: { warnings: [{ code: 'no_buyer' }, { code: 'unprintable_text', pointer: '/notes' }] },
		})
		expect(await pdfText(attached())).toContain('After')
		expect(mail.received).toHaveLength(1)
		expect(await read(id)).toMatchObject({ status: 'sent', notes: 'After 😀' })
	})
}
