import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeProvider } from '../provider.ts'
import { caller, refreshForm } from './calls.ts'
import { FakeXero } from './xero.ts'

let vendor: FakeXero
let call: ReturnType<typeof caller>

beforeEach(async () => {
	vendor = await new FakeXero().start()
	call = caller(vendor, { 'xero-tenant-id': vendor.tenants[0]?.tenantId ?? '' })
})
afterEach(() => vendor.stop())

const contacts = '/api.xro/2.0/Contacts'
const list = async (query = '', headers = {}) => (await call('GET', `${contacts}${query}`, { headers })).json
const idsOf = ({ Contacts }: { Contacts: { ContactID: string }[] }) => Contacts.map(({ ContactID }) => ContactID)

it('pages show every contact once, and count them', async () => {
	const ids = vendor.seed('contacts', 250)
	const pages = [await list('?page=1'), await list('?page=2'), await list('?page=3')]
	expect(pages.flatMap(idsOf)).toEqual(ids)
	expect(pages[2].pagination).toEqual({ page: 3, pageSize: 100, pageCount: 3, itemCount: 250 })
	expect((await list('?page=4')).Contacts).toEqual([])
})

it('a contact that changes between two pages moves to the end, and another one falls between them', async () => {
	const ids = vendor.seed('contacts', 4)
	vendor.meet([null, { kind: 'moved' }])
	const seen = [...idsOf(await list('?page=1&pageSize=2')), ...idsOf(await list('?page=2&pageSize=2'))]
	expect(seen).toEqual([ids[0], ids[1], ids[3], ids[0]])
})

it('answers only what changed since a second, and nothing with 200', async () => {
	vendor.clock = () => Date.UTC(2026, 0, 1, 10)
	const [first = '', second = ''] = vendor.seed('contacts', 2)
	vendor.clock = () => Date.UTC(2026, 0, 1, 11, 0, 0, 250)
	vendor.contacts.change(first, { Name: 'Ada' })
	const since = (time: string) => list('?page=1', { 'if-modified-since': time })
	expect(idsOf(await since('2026-01-01T11:00:00'))).toEqual([first])
	expect(idsOf(await since('Thu, 01 Jan 2026 10:30:00 GMT'))).toEqual([first])
	expect(idsOf(await since('2026-01-01T09:59:59'))).toEqual([second, first])
	expect(await since('2026-01-01T12:00:00')).toMatchObject({ Contacts: [], pagination: { itemCount: 0 } })
	expect((await list('?page=1')).Contacts[1].UpdatedDateUTC).toBe('/Date(1767265200250+0000)/')
})

it('an archived contact shows only to a caller that asks for it', async () => {
	const [first = '', second = ''] = vendor.seed('contacts', 2)
	vendor.contacts.remove(first)
	expect(idsOf(await list('?page=1'))).toEqual([second])
	expect((await list(`?includeArchived=true&IDs=${first}`)).Contacts[0].ContactStatus).toBe('ARCHIVED')
	expect(idsOf(await list(`?where=${encodeURIComponent('ContactStatus=="ACTIVE" AND Name.StartsWith("Contact")')}`))).toEqual([
		second,
	])
})

it('creates once for an idempotency key, whose first answer was lost', async () => {
	vendor.meet([{ kind: 'lost' }])
	const create = (Name: string) =>
		call('POST', contacts, { headers: { 'idempotency-key': 'k1' }, body: { Contacts: [{ Name }] } })
	await expect(create('Ada')).rejects.toThrow()
	const [{ ContactID }] = (await create('Ada')).json.Contacts
	expect(vendor.contacts.list().map(({ id }) => id)).toEqual([ContactID])
	expect((await create('Grace')).status).toBe(400)
})

it('an invoice has decimals and dates, and one bad record refuses all or itself', async () => {
	const [ContactID] = vendor.seed('contacts', 1)
	const good = {
		...{ Type: 'ACCREC', Status: 'AUTHORISED', DueDate: '2026-02-28', Contact: { ContactID } },
		LineItems: [{ Quantity: 3, UnitAmount: 0.1, TaxAmount: 0.05 }],
	}
	const post = (query: string) =>
		call('POST', `/api.xro/2.0/Invoices${query}`, { body: { Invoices: [good, { ...good, Contact: {} }] } })
	const all = await post('')
	expect([all.status, all.json.Type, all.json.Elements.length]).toEqual([400, 'ValidationException', 1])
	expect(vendor.invoices.list()).toEqual([])
	const each = (await post('?summarizeErrors=false')).json.Invoices
	expect(each.map((one: { StatusAttributeString: string }) => one.StatusAttributeString)).toEqual(['OK', 'ERROR'])
	expect(each[0]).toMatchObject({ SubTotal: 0.3, Total: 0.35, AmountDue: 0.35, DueDate: '/Date(1772236800000+0000)/' })
	vendor.invoices.remove(each[0].InvoiceID)
	expect((await call('GET', '/api.xro/2.0/Invoices?page=1')).json.Invoices[0].Status).toBe('VOIDED')
})

it('rejects a call without a tenant, and names the limit that is reached', async () => {
	expect((await call('GET', contacts, { headers: { 'xero-tenant-id': '' } })).status).toBe(403)
	expect((await call('GET', '/connections', { headers: { 'xero-tenant-id': '' } })).json[0].tenantId).toBe(
		vendor.tenants[0]?.tenantId,
	)
	vendor.meet([{ kind: 'rate_limited', retryAfter: 7200, problem: 'day' }])
	const { status, headers } = await call('GET', contacts)
	expect([status, headers.get('x-rate-limit-problem'), headers.get('retry-after')]).toEqual([429, 'day', '7200'])
	expect((await call('GET', contacts)).headers.get('x-daylimit-remaining')).toBe('997')
})

it('a refresh token is replaced at its use, and to use it again revokes all that came of it', async () => {
	const { accessToken, refreshToken } = vendor.tokens.grant()
	const refresh = (token: string) => call('POST', '/connect/token', { token: null, body: refreshForm(vendor, token) })
	vendor.clock = () => Date.now() + 1_800_000
	expect((await call('GET', '/connections', { token: accessToken })).json.Detail).toContain('TokenExpired')
	const { access_token, refresh_token, expires_in } = (await refresh(refreshToken)).json
	expect([expires_in, (await call('GET', '/connections', { token: access_token })).status]).toEqual([1800, 200])
	expect((await refresh(refreshToken)).json.error).toBe('invalid_grant')
	expect((await refresh(refresh_token)).json.error).toBe('invalid_grant')
	expect((await call('GET', '/connections', { token: access_token })).status).toBe(401)
})

it('a client that lost the answer may ask again for a while, where the vendor has such a time', async () => {
	vendor.tokens.rules = { ...vendor.tokens.rules, graceMs: 60_000, callsPerToken: 1 }
	const { refreshToken } = vendor.tokens.grant()
	const refresh = () => call('POST', '/connect/token', { token: null, body: refreshForm(vendor, refreshToken) })
	vendor.meet([{ kind: 'lost' }])
	await expect(refresh()).rejects.toThrow()
	const { access_token: token } = (await refresh()).json
	expect([(await call('GET', '/connections', { token })).status, (await call('GET', '/connections', { token })).status]).toEqual([
		200, 401,
	])
	vendor.clock = () => Date.now() + 60_000
	expect((await refresh()).json.error).toBe('invalid_grant')
})

it('sends webhooks only to a receiver that checks signatures', async () => {
	const receiver = await new FakeProvider().start()
	receiver.answers(200)
	expect(await vendor.intentToReceive(receiver.url)).toBe(false)
	receiver.answer = async (request, response) => {
		const body = Buffer.concat(await request.toArray())
		const signature = createHmac('sha256', vendor.webhookSecret).update(body).digest('base64')
		response.writeHead(request.headers['x-xero-signature'] === signature ? 200 : 401).end()
	}
	expect(await vendor.intentToReceive(receiver.url)).toBe(true)
	vendor.seed('contacts', 2)
	expect(await vendor.sendWebhooks(receiver.url)).toEqual([200, 200])
	await receiver.stop()
})
