// Lines of kind discount, and the discount of a line: neither may raise what is owed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const post = (body: object) => server.ask('POST', '/api/invoices', { body })
const preview = (body: object) => server.ask('POST', '/api/invoices/preview', { body })
const patch = (id: string, body: object) => server.ask('PATCH', `/api/invoices/${id}`, { body })
const read = async (id: string) => (await server.ask('GET', `/api/invoices/${id}`)).body.data
const made = async (body: object) => read((await post(body)).body.id)
const changed = async (id: string, body: object) => {
	expect(await patch(id, body)).toMatchObject({ status: 200, body: { ok: true } })
	return read(id)
}
const lineOf = async (line: object) => (await made({ lineItems: [line] })).lineItems[0]
const refused = (code: string, pointer: string) => ({ status: 422, body: { code, errors: [{ pointer, code }] } })

describe('a discount', () => {
	const at = (field: string) => refused('invalid_line_item', `/lineItems/1/${field}`)

	it.each([
		[{ kind: 'discount', unitPriceCents: 250 }, 'unitPriceCents', 'make its price negative'],
		[{ kind: 'discount', unitPriceCents: -250, quantity: -1 }, 'unitPriceCents', 'comes to 250'],
		[{ kind: 'discount', unitPriceCents: -250, discountCents: -251 }, 'discountCents', 'which is -250'],
		[{ unitPriceCents: 250, discountCents: 251 }, 'discountCents', 'which is 250'],
		[{ unitPriceCents: 33, quantity: '1.5', discountCents: 50 }, 'discountCents', 'which is 49'],
		[{ unitPriceCents: -250, discountCents: -251 }, 'discountCents', 'which is -250'],
		[{ unitPriceCents: 0, discountCents: 1 }, 'discountCents', 'which is 0'],
		[{ quantity: 0, unitPriceCents: 5, discountCents: -1 }, 'discountCents', 'which is 0'],
	])('that raises what is owed, or takes more than there is, is refused: %j', async (line, field, words) => {
		for (const answer of [await post({ lineItems: [{}, line] }), await preview({ lineItems: [{}, line] })]) {
			expect(answer).toMatchObject(at(field))
			expect(answer.body.detail).toContain(words)
		}
	})

	it.each([
		[{ kind: 'discount', unitPriceCents: 0 }, 0],
		[{ kind: 'discount', unitPriceCents: 250, quantity: -1 }, -250],
		[{ kind: 'discount', unitPriceCents: 250, discountPercent: 100 }, 0],
		[{ unitPriceCents: 250, discountCents: 250 }, 0],
		[{ unitPriceCents: -250, discountCents: -250 }, 0],
		[{ unitPriceCents: 250, discountCents: -50 }, 300],
		[{ unitPriceCents: 0, discountCents: 0 }, 0],
	])('may be as large as its line: %j', async (line, amountCents) => {
		expect(await lineOf(line)).toMatchObject({ amountCents })
	})

	it('that an older rule let in stays, beside every change but one of its own amount', async () => {
		const { id, lineItems } = await made({ lineItems: [{ description: 'Work', unitPriceCents: 500 }, { unitPriceCents: 250 }] })
		const old = { ...lineItems[1], kind: 'discount', discountCents: 300, amountCents: -50, netCents: -50, grossCents: -50 }
		const key = { organizationId: server.organizationId, id }
		await server.db.transaction((tx) => tx.run(storeLines, { ...key, lineItems: [lineItems[0], old] }))
		expect((await read(id)).lineItems[1]).toMatchObject(old)
		expect(await changed(id, { notes: 'Thank you', status: 'sent' })).toMatchObject({ notes: 'Thank you', lineItems: [{}, old] })
		const [first, second] = [{ id: lineItems[0].id, unitPriceCents: 600 }, { id: old.id }]
		expect(await changed(id, { lineItems: [first, { ...second, description: 'Words' }] })).toMatchObject({ totalCents: 550 })
		for (const line of [{ unitPriceCents: 251 }, { discountCents: 301 }]) {
			expect(await patch(id, { lineItems: [first, { ...second, ...line }] })).toMatchObject({ status: 422 })
		}
		const item = { ...second, kind: 'item', discountCents: 250 }
		expect(await changed(id, { lineItems: [first, item] })).toMatchObject({ totalCents: 600 })
	})

	const storeLines = query<{ organizationId: string; id: string; lineItems: readonly object[] }>((knex, { lineItems, ...key }) =>
		knex('invoices').where(key).update({ lineItems }),
	)
})
