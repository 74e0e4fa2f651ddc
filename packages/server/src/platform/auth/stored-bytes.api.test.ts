// How many bytes an organization's requests may store in a day.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { Sink } from '../../../test/sink.ts'
import { StoredBytes } from './stored-bytes.ts'

const day = 86_400_000

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ STORED_MB_PER_DAY: 1 })
	server.clock.now = Math.floor(server.clock.now / day) * day + day / 2
})
afterAll(() => server.close())

/** An invoice whose event has some 250 KB, made of a body of 116 KB. */
const lineItems = Array.from({ length: 500 }, () => ({ description: 'x'.repeat(200), unitPriceCents: 1 }))
const create = ({ ask }: Tenant, body: object = { lineItems }) => ask('POST', '/api/invoices', { body })
const usage = async ({ remit }: Tenant) => remit.organization.usage.get()

it('a request counts with its body and the record of its event, a rejected one and a GET with nothing', async () => {
	const tenant = await server.newTenant()
	const resetsAt = Math.ceil(server.clock.now / day) * day
	expect(await usage(tenant)).toEqual({ storedBytes: 0, storedBytesLimit: 1_000_000, resetsAt })
	const body = { notes: 'counted' }
	const { id } = (await create(tenant, body)).body
	const { text } = await tenant.ask('GET', `/api/invoices/${id}`)
	const { storedBytes } = await usage(tenant)
	expect(storedBytes).toBe(JSON.stringify(body).length + text.length - '{"data":}'.length)
	expect((await create(tenant, { dealId: 'dl_unknown' })).status).toBe(422)
	expect((await usage(tenant)).storedBytes).toBe(storedBytes)
})

it('a DELETE counts with the record of its event, and with what the audit log keeps of the record', async () => {
	const tenant = await server.newTenant()
	const { id } = (await create(tenant, { notes: '請求書'.repeat(100) })).body
	const { text } = await tenant.ask('GET', `/api/invoices/${id}`)
	const { storedBytes } = await usage(tenant)
	expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
	expect((await usage(tenant)).storedBytes).toBe(storedBytes + 2 * (Buffer.byteLength(text) - '{"data":}'.length))
})

it('the PDF of a sent invoice counts when it is kept, and not when it is read again', async () => {
	const tenant = await server.newTenant()
	const { id } = (await create(tenant, { status: 'sent' })).body
	const { storedBytes } = await usage(tenant)
	for (let times = 0; times < 2; times++) {
		const { byteLength } = await tenant.remit.invoices.pdf(id)
		expect((await usage(tenant)).storedBytes).toBe(storedBytes + byteLength)
	}
})

it('a body in chunks, which tells no length, counts as one that does', async () => {
	const tenant = await server.newTenant()
	const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' }
	const text = JSON.stringify({ name: 'VAT', percent: '8.1' }).padEnd(5_000)
	const storedWith = async (body: string | ReadableStream) => {
		const before = await usage(tenant)
		const request = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
		expect((await fetch(`${server.url}/api/tax-rates`, request)).status).toBe(201)
		return (await usage(tenant)).storedBytes - before.storedBytes
	}
	const stored = await storedWith(text)
	expect(stored).toBeGreaterThan(5_000)
	expect(await storedWith(new Blob([text]).stream())).toBe(stored)
})

it('writing is 429 until the day is over; reading, deleting and other organizations go on', async () => {
	const tenant = await server.newTenant()
	const { id } = (await create(tenant)).body
	await vi.waitFor(async () => expect((await create(tenant)).status).toBe(429), { timeout: 20_000 })
	const rejected = await tenant.ask('PATCH', `/api/invoices/${id}`, { body: { notes: 'more' } })
	expect(rejected).toMatchObject({ status: 429, body: { code: 'storage_limit_reached' } })
	expect(rejected.headers.get('retry-after')).toBe(String(day / 2 / 1000))
	expect((await usage(tenant)).storedBytes).toBeGreaterThan(1_000_000)
	expect((await tenant.ask('POST', '/api/invoices/preview', { body: { lineItems } })).status).toBe(200)
	expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
	expect((await create(await server.newTenant())).status).toBe(201)
	server.clock.now += day / 2
	expect((await create(tenant)).status).toBe(201)
	server.clock.now -= day / 2
})

it('what a receiver answers counts for the organization whose delivery it was', async () => {
	const tenant = await server.newTenant()
	const sink = await new Sink({ everyLibrary: false }).start()
	sink.answer = { status: 500, body: 'x'.repeat(5_000) }
	await sink.subscribe(tenant.remit, 'company.created')
	const { storedBytes } = await usage(tenant)
	await tenant.remit.companies.create({ name: 'Acme' })
	await vi.waitFor(async () => expect((await usage(tenant)).storedBytes).toBeGreaterThan(storedBytes + 5_000), { timeout: 5_000 })
	expect((await usage(tenant)).storedBytes).toBeLessThan(storedBytes + 7_000)
	await sink.stop()
})

it('processes count together, and know of each other once both have told the database', async () => {
	const { organizationId } = await server.newTenant()
	const { now } = server.clock
	const [one, other] = [new StoredBytes(server.db, 1), new StoredBytes(server.db, 1)]
	for (const process of [one, other]) process.add(organizationId, 600_000, now)
	await one.flush(now)
	await other.flush(now)
	expect(() => one.require(organizationId, now)).not.toThrow()
	expect(() => other.require(organizationId, now)).toThrow('it may store in a day')
	expect((await one.usage(server.db, organizationId, now)).storedBytes).toBe(1_200_000)
	await other.flush(now)
	expect(() => other.require(organizationId, now)).toThrow('it may store in a day')
	expect(() => other.require(organizationId, now + day)).not.toThrow()
})
