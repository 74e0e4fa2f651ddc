// The list of invoices by random filters in random orders gives what filtering and sorting in JavaScript give.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { type Filters, filtered, growInvoices, middle, type Row, removeGrown, sorted } from '../../../../test/invoice-rows.ts'
import { connect } from '../../../../test/plans.ts'
import type { Ask } from '../../../../test/tables.ts'
import { dayMs, hourMs } from '../../../platform/base/dates.ts'
import { mostLooked } from './list.ts'

const timeZone = 'America/New_York'
let server: TestServer
let tenant: Tenant
let ask: Ask
let end: () => unknown
let rows: Row[]
beforeAll(async () => {
	server = await startTestServer()
	server.clock.now = middle + 3 * hourMs
	;({ ask, end } = await connect(server.settings))
	tenant = await server.newTenant({ timeZone })
	rows = await growInvoices(server, tenant, ask, mostLooked + 4_000)
}, 120_000)
afterAll(async () => {
	await removeGrown(ask)
	await end()
	await server.close()
})

const dateIn = (days: number) =>
	fc
		.integer({ min: -days, max: days })
		.chain((day) =>
			fc.constantFrom<string | number>(
				new Date(middle + day * dayMs).toISOString().slice(0, 10),
				middle + day * dayMs,
				middle + day * dayMs + 7 * hourMs,
				new Date(middle + day * dayMs + 3 * hourMs).toISOString(),
			),
		)
const range = (name: string, days: number) =>
	fc
		.tuple(fc.option(dateIn(days), { nil: undefined }), fc.option(dateIn(days), { nil: undefined }))
		.map(([from, to]) => ({ ...(from && { [`${name}From`]: from }), ...(to && { [`${name}To`]: to }) }))
const maybe = <T>(name: string, value: fc.Arbitrary<T>) =>
	fc.option(value, { nil: undefined }).map((found) => (found === undefined ? {} : { [name]: found }))
const rarely = (part: fc.Arbitrary<object>) => fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: part })

const statuses = ['draft', 'sent', 'paid', 'overdue', 'cancelled'] as const
const filters: fc.Arbitrary<Filters> = fc
	.tuple(
		rarely(
			maybe('status', fc.oneof(fc.constantFrom(...statuses), fc.uniqueArray(fc.constantFrom(...statuses), { minLength: 1 }))),
		),
		rarely(maybe('paymentState', fc.constantFrom('unpaid', 'partially_paid', 'paid'))),
		rarely(maybe('isOutstanding', fc.boolean())),
		rarely(maybe('isOverdue', fc.boolean())),
		rarely(maybe('currency', fc.constantFrom('EUR', 'USD', 'JPY', 'KWD'))),
		rarely(maybe('companyId', fc.constant('own'))),
		rarely(maybe('dealId', fc.constant('own'))),
		rarely(maybe('totalMin', fc.integer({ min: -60, max: 460 }))),
		rarely(maybe('totalMax', fc.integer({ min: -60, max: 460 }))),
		rarely(range('issued', 32)),
		rarely(range('due', 32)),
		rarely(range('paid', 32)),
		rarely(range('created', 6)),
		rarely(maybe('updatedSince', dateIn(70))),
	)
	.map((parts) => Object.assign({}, ...parts))
const order = fc.record({
	sortBy: fc.constantFrom('createdAt', 'issuedDate', 'dueDate', 'totalCents', 'invoiceNumber'),
	sortOrder: fc.constantFrom('asc', 'desc'),
})

const own = (name: 'companyId' | 'dealId') => rows.find((row) => row[name] !== null)?.[name] as string
const isBackward = ({ totalMin = -1e9, totalMax = 1e9 }: Filters) => totalMin > totalMax
const textOf = (query: Filters) =>
	new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))

it('pages by cursor, an offset and the count are those of the whole', async () => {
	await fc.assert(
		fc.asyncProperty(filters, order, fc.integer({ min: 0, max: 3_000 }), async (given, { sortBy, sortOrder }, offset) => {
			const query = {
				...given,
				...(given.companyId && { companyId: own('companyId') }),
				...(given.dealId && { dealId: own('dealId') }),
			}
			if (isBackward(query)) return
			const path = `/api/invoices?${textOf({ ...query, sortBy, sortOrder, fields: 'summary', limit: 100 })}`
			const first = await tenant.ask('GET', `${path}&count=true`)
			if (first.status === 400) {
				// A range of dates that is upside down.
				expect(first.body.errors[0]).toMatchObject({ code: 'range' })
				return
			}
			const expected = sorted(filtered(rows, query, timeZone, server.clock.now), sortBy, sortOrder)
			const ids = expected.map(({ id }) => id)
			// Only filters make a page short.
			const canBeShort = Object.keys(query).length > 0
			const counted = first.headers.get('x-total-count')
			if (counted !== null) expect(Number(counted)).toBe(ids.length)
			else expect(ids.length > 10_000 || canBeShort).toBe(true)
			const seen: string[] = []
			// All pages of a short list, and the first of a long one.
			for (let next: string | undefined = path, pages = 0; next && pages < 8; pages++) {
				const { body, headers }: Awaited<ReturnType<typeof tenant.ask>> = await tenant.ask('GET', next)
				seen.push(...body.data.map(({ id }: { id: string }) => id))
				next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
				expect(seen).toEqual(ids.slice(0, seen.length))
				if (next === undefined) expect(seen).toHaveLength(ids.length)
				else if (!canBeShort) expect(body.data).toHaveLength(100)
			}
			const { body } = await tenant.ask('GET', `${path}&offset=${offset}`)
			const page = body.data.map(({ id }: { id: string }) => id)
			expect(page).toEqual(ids.slice(offset, offset + page.length))
			if (!canBeShort) expect(page).toHaveLength(Math.min(100, Math.max(0, ids.length - offset)))
		}),
		{ numRuns: 60, seed: 7 },
	)
}, 240_000)
