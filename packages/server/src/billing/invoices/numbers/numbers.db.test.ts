// How an organization numbers its invoices, and what explains a gap.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import type { NumberGap } from '../../../generated/contract.ts'
import type { Transaction } from '../../../platform/db/database.ts'
import { setNext, takeNumber } from './store.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const ask = async (method: string, path: string, body?: object) => (await tenant.ask(method, path, { body })).body
const settings = (body: object) => ask('PATCH', '/api/organization', body)
const create = async (body: object = {}) => (await ask('POST', '/api/invoices', body)) as { id: string; invoiceNumber: string }
const numberOf = async (id: string): Promise<string> => (await ask('GET', `/api/invoices/${id}`)).data.invoiceNumber
const gaps = async (): Promise<NumberGap[]> => (await ask('GET', '/api/number-gaps')).data
const brief = async () =>
	(await gaps()).map(({ series, firstNumber, lastNumber, reason }) => [series, firstNumber, lastNumber, reason])

it('With numberOnIssue a draft gets its number when it is no draft any more, and keeps it', async () => {
	await settings({ numberOnIssue: true })
	const drafts = [await create(), await create(), await create(), await create()]
	for (const { id, invoiceNumber } of drafts) expect(invoiceNumber).toBe(`DRAFT-${id.slice(-8)}`)
	expect((await create({ status: 'sent' })).invoiceNumber).toBe('INV-0001')
	const [first, second, third, fourth] = drafts.map(({ id }) => id) as [string, string, string, string]
	await ask('PATCH', `/api/invoices/${second}`, { status: 'paid' })
	await ask('PATCH', `/api/invoices/${first}`, { status: 'sent' })
	expect([await numberOf(second), await numberOf(first)]).toEqual(['INV-0002', 'INV-0003'])
	await ask('PATCH', `/api/invoices/${first}`, { status: 'draft' })
	await ask('PATCH', `/api/invoices/${first}`, { status: 'sent' })
	expect(await numberOf(first)).toBe('INV-0003')
	await ask('PATCH', `/api/invoices/${third}`, { invoiceNumber: 'Own 7' })
	await ask('PATCH', `/api/invoices/${third}`, { status: 'sent' })
	expect(await numberOf(third)).toBe('Own 7')
	await ask('DELETE', `/api/invoices/${fourth}`)
	expect(await brief()).toEqual([])
	const { data } = await ask('GET', `/webhooks/events?resourceId=${second}&limit=100`)
	const changed = data.find(({ type }: { type: string }) => type === 'invoice.updated')
	expect(changed.changes.invoiceNumber).toEqual({ from: drafts[1]?.invoiceNumber, to: 'INV-0002' })
})

it('An e-mail shows the number of the invoice that it issues', async () => {
	await settings({ numberOnIssue: true })
	const { id } = await create({ totalCents: 500 })
	expect(await tenant.ask('POST', `/api/invoices/${id}/send`, { body: { to: 'client@acme.example' } })).toMatchObject({
		status: 200,
	})
	expect(await numberOf(id)).toBe('INV-0001')
	expect((await ask('GET', `/api/invoices/${id}/emails`)).data[0].subject).toContain('INV-0001')
})

it('Drafts that are issued at the same time get numbers without a gap', async () => {
	await settings({ numberOnIssue: true, invoiceNumberPrefix: 'R-{year}-' })
	const ids = (await Promise.all(Array.from({ length: 12 }, () => create()))).map(({ id }) => id)
	await Promise.all(ids.map((id) => ask('PATCH', `/api/invoices/${id}`, { status: 'sent' })))
	const year = new Date(server.clock.now).getUTCFullYear()
	const expected = Array.from({ length: 12 }, (_, n) => `R-${year}-${String(n + 1).padStart(4, '0')}`)
	expect((await Promise.all(ids.map(numberOf))).sort()).toEqual(expected)
})

it('A prefix with the year counts anew each year: of the issued date, in the time zone of the organization', async () => {
	await settings({ invoiceNumberPrefix: '{year}/', invoiceNumberDigits: 3, timeZone: 'Pacific/Auckland' })
	const dated = async (issuedDate: string) => (await create({ issuedDate })).invoiceNumber
	expect(await dated('2025-12-31')).toBe('2025/001')
	expect(await dated('2026-01-01')).toBe('2026/001')
	expect(await dated('2025-12-31T12:00:00Z')).toBe('2026/002')
	expect(await dated('2025-12-30')).toBe('2025/002')
	expect((await create({ invoiceNumber: '2025/007', issuedDate: '2026-05-01' })).invoiceNumber).toBe('2025/007')
	expect(await dated('2025-06-01')).toBe('2025/008')
	expect(await brief()).toEqual([['2025/', 3, 6, 'own_number']])
	await settings({ invoiceNumberPrefix: 'INV-', invoiceNumberDigits: 4 })
	expect((await create()).invoiceNumber).toBe('INV-0001')
	for (const prefix of ['', '{year}{year}', '{month}', 'ä', 'a b', 'x'.repeat(21)])
		expect(await tenant.ask('PATCH', '/api/organization', { body: { invoiceNumberPrefix: prefix } })).toMatchObject({
			status: 400,
		})
})

it('Two own numbers at once in a new series leave its counter behind the greater', async () => {
	await settings({ invoiceNumberPrefix: 'R-{year}-' })
	const years = Array.from({ length: 8 }, (_, index) => 2001 + index)
	const next = async (year: number) => {
		const own = (number: string) => create({ invoiceNumber: `R-${year}-${number}` })
		const made = await Promise.all([own('0010'), own('0005')])
		expect(made.map(({ invoiceNumber }) => invoiceNumber)).toEqual([`R-${year}-0010`, `R-${year}-0005`])
		return (await create({ issuedDate: `${year}-05-01` })).invoiceNumber
	}
	expect(await Promise.all(years.map(next))).toEqual(years.map((year) => `R-${year}-0011`))
})

it('The next number and the gaps are read while an invoice takes a number', async () => {
	await settings({ invoiceNumberPrefix: 'R' })
	await create()
	const { organizationId } = tenant
	const [taken, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
	const taking = server.db.transaction(async (tx) => {
		const { timeZone, invoiceNumberPrefix, invoiceNumberDigits } = (await ask('GET', '/api/organization')).data
		const numbering = { timeZone, invoiceNumberPrefix, invoiceNumberDigits }
		await takeNumber(tx, { organizationId, series: 'R' }, numbering)
		taken.resolve()
		await read.promise
	})
	await taken.promise
	try {
		expect((await ask('GET', '/api/organization/next-invoice-number')).data.number).toBe(2)
		expect(await brief()).toEqual([])
	} finally {
		read.resolve()
		await taking
	}
})

it('A change that shares its transaction counts each series on from what it has taken and set there', async () => {
	const { organizationId } = tenant
	const numbering = { timeZone: 'UTC', invoiceNumberPrefix: 'INV-', invoiceNumberDigits: 4 }
	const why = { reason: 'setting', invoiceId: null, skippedBy: 'test', skippedAt: 0 } as const
	const inGroup = <T>(work: (tx: Transaction) => Promise<T>) => server.db.transaction(work, { organizationId })
	const take = (tx: Transaction, series: string) => takeNumber(tx, { organizationId, series }, numbering)
	const first = inGroup((tx) => take(tx, 'INV-'))
	const second = inGroup(async (tx) => {
		const taken = [await take(tx, 'INV-'), await take(tx, 'R-'), await take(tx, 'INV-'), await take(tx, 'R-')]
		await setNext(tx, { organizationId, series: 'INV-' }, 20, why)
		return [...taken, await take(tx, 'INV-'), await take(tx, 'R-')]
	})
	expect(await first).toBe('INV-0001')
	expect(await second).toEqual(['INV-0002', 'R-0001', 'INV-0003', 'R-0002', 'INV-0020', 'R-0003'])
	expect((await create()).invoiceNumber).toBe('INV-0021')
})

it('The next number can be set, but not to one that was used', async () => {
	const path = '/api/organization/next-invoice-number'
	const set = (number: number) => tenant.ask('PUT', path, { body: { number } })
	const { id } = await create()
	expect((await ask('GET', path)).data).toEqual({ series: 'INV-', number: 2, invoiceNumber: 'INV-0002' })
	expect((await set(100)).status).toBe(200)
	expect((await ask('GET', path)).data.invoiceNumber).toBe('INV-0100')
	await ask('DELETE', `/api/invoices/${id}`)
	expect(await set(1)).toMatchObject({ status: 422, body: { code: 'number_used', errors: [{ pointer: '/number' }] } })
	expect((await ask('GET', path)).data.number).toBe(100)
	expect((await set(50)).status).toBe(200)
	expect((await create()).invoiceNumber).toBe('INV-0050')
	expect(await brief()).toEqual([
		['INV-', 1, 1, 'deleted'],
		['INV-', 2, 49, 'setting'],
	])
	await settings({ invoiceNumberPrefix: 'R' })
	expect((await set(7)).status).toBe(200)
	expect((await create()).invoiceNumber).toBe('R0007')
	expect((await brief()).at(-1)).toEqual(['R', 1, 6, 'setting'])
	const { data } = await ask('GET', '/api/audit?limit=2')
	expect(data[1]).toMatchObject({ after: { series: 'R', nextInvoiceNumber: 7 } })
})

it('Each gap says what made it, who and when', async () => {
	const [first, second] = [await create(), await create()]
	const own = await create({ invoiceNumber: 'INV-0006' })
	await ask('PATCH', `/api/invoices/${second.id}`, { invoiceNumber: 'Own 1' })
	await ask('DELETE', `/api/invoices/${first.id}`)
	const by = (await ask('GET', '/api/audit?limit=1')).data[0].actor.id
	const at = server.clock.now
	expect(await gaps()).toEqual([
		{ series: 'INV-', firstNumber: 1, lastNumber: 1, reason: 'deleted', invoiceId: first.id, by, at },
		{ series: 'INV-', firstNumber: 2, lastNumber: 2, reason: 'renumbered', invoiceId: second.id, by, at },
		{ series: 'INV-', firstNumber: 3, lastNumber: 5, reason: 'own_number', invoiceId: own.id, by, at },
	])
	await create({ invoiceNumber: 'INV-0004' })
	await ask('DELETE', `/api/invoices/${own.id}`)
	expect(await brief()).toEqual([
		...[1, 2, 3, 5, 6].map((n) => ['INV-', n, n, n === 1 || n === 6 ? 'deleted' : n === 2 ? 'renumbered' : 'own_number']),
	])
	expect((await ask('GET', '/api/number-gaps?limit=2&offset=1')).meta).toEqual({
		...{ total: 5, limit: 2, offset: 1 },
		...{ hasMore: true, nextCursor: expect.any(String) },
	})
})
