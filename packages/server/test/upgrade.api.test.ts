// This version reads the records of older versions as if it had written them.
import { join } from 'node:path'
import knexFactory, { type Knex } from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { up as addInvoiceFields } from '../migrations/0015-invoice-fields.ts'
import { startTestServer, type TestServer } from './harness.ts'

let server: TestServer
let knex: Knex
beforeAll(async () => {
	server = await startTestServer()
	const { DATABASE_URL, DATA_DIR } = server.settings
	knex = DATABASE_URL
		? knexFactory({ client: 'pg', connection: DATABASE_URL })
		: knexFactory({
				client: 'better-sqlite3',
				connection: { filename: join(DATA_DIR as string, 'remit.db') },
				useNullAsDefault: true,
			})
})
afterAll(async () => {
	await knex.destroy()
	await server.close()
})

const parse = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)

it('invoices get the fields that lines and parties have now, and keep what they have', async () => {
	const company = await server.ask('POST', '/api/companies', { body: { name: 'Acme' } })
	const lineItems = [
		{ description: 'First', unitPriceCents: 100 },
		{ description: 'Second', unitPriceCents: 200, metadata: { a: 'b' } },
	]
	const body = { companyId: company.body.id, status: 'sent', lineItems }
	const { id } = (await server.ask('POST', '/api/invoices', { body })).body
	const empty = (await server.ask('POST', '/api/invoices')).body.id
	const written = (await server.ask('GET', `/api/invoices/${id}`)).body

	const row = await knex('invoices').where({ id }).first()
	const older = {
		lineItems: parse(row.lineItems).map(
			({ taxRateId, durationSeconds, timeEntryIds, ...line }: object & Record<string, unknown>) => line,
		),
		billTo: (({ phone, taxId, ...party }) => party)(parse(row.billTo)),
		billFrom: (({ phone, taxId, ...party }) => party)(parse(row.billFrom)),
	}
	const columns = Object.fromEntries(Object.entries(older).map(([name, value]) => [name, JSON.stringify(value)]))
	await knex('invoices').where({ id }).update(columns)
	await expect(server.ask('GET', `/api/invoices/${id}`)).rejects.toThrow('does not fit the contract')

	for (let time = 1; time <= 2; time++) {
		await addInvoiceFields(knex)
		expect((await server.ask('GET', `/api/invoices/${id}`)).body).toEqual(written)
		expect((await server.ask('GET', `/api/invoices/${empty}`)).body.data).toMatchObject({ lineItems: [], billTo: null })
	}
})
