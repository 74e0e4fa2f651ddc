// What a client has as a PDF stays what the server answers, until the invoice itself changes.
import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { query } from '../../../platform/db/database.ts'

interface Row {
	readonly invoiceId: string
	readonly sha256: string
	readonly size: number
	readonly bytes: Uint8Array
}

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const rowsOf = query<{ invoiceId: string }, Row>((knex, key) => knex('documents').where(key).orderBy('id').select('*'))
const kept = (invoiceId: string) => server.db.all(rowsOf, { invoiceId })
const create = async (body: object) => (await tenant.remit.invoices.create(body)).id
const pdf = async (id: string) => Buffer.from(await tenant.remit.invoices.pdf(id))

/** Stands for a server whose templates are others: what it would render now is not what was kept. */
const overwrite = query<{ invoiceId: string; bytes: Uint8Array }>((knex, { invoiceId, bytes }) =>
	knex('documents').where({ invoiceId }).update({ bytes }),
)

it('the PDF of a sent invoice is kept with its SHA-256, once', async () => {
	const id = await create({ status: 'sent', totalCents: 100 })
	const [first, again] = await Promise.all([pdf(id), pdf(id)])
	expect(again.equals(first)).toBe(true)
	const [row, ...others] = await kept(id)
	expect(others).toEqual([])
	expect(row).toMatchObject({ sha256: hash('sha256', first), size: first.byteLength })
	expect(Buffer.from(row?.bytes as Uint8Array).equals(first)).toBe(true)
})

it('is answered with the bytes that were kept, to its owner and to its client, whatever is rendered today', async () => {
	const id = await create({ status: 'sent', totalCents: 100 })
	const { url } = await tenant.remit.invoices.clientLink.create(id)
	await pdf(id)
	const earlier = Buffer.from('%PDF of an earlier version')
	await server.db.transaction((tx) => tx.run(overwrite, { invoiceId: id, bytes: earlier }))
	expect((await pdf(id)).equals(earlier)).toBe(true)
	const token = url.split('/').at(-1)
	const answer = await fetch(`${server.url}/api/invoices/public/${token}/pdf`)
	expect(Buffer.from(await answer.arrayBuffer()).equals(earlier)).toBe(true)
})

it('is rendered and kept anew when the invoice shows something else, and the earlier one comes back with what it showed', async () => {
	const id = await create({ status: 'sent', totalCents: 100 })
	const sent = await pdf(id)
	await tenant.remit.invoices.update(id, { notes: 'Thanks' })
	expect((await pdf(id)).equals(sent)).toBe(false)
	await tenant.remit.invoices.update(id, { notes: null })
	expect((await pdf(id)).equals(sent)).toBe(true)
	expect(await kept(id)).toHaveLength(2)
})

it('nothing is kept of a draft, and nothing is left of a deleted invoice', async () => {
	const id = await create({ totalCents: 100 })
	await pdf(id)
	expect(await kept(id)).toEqual([])
	await tenant.remit.invoices.update(id, { status: 'sent' })
	await pdf(id)
	expect(await kept(id)).toHaveLength(1)
	await tenant.remit.invoices.delete(id)
	expect(await kept(id)).toEqual([])
})
