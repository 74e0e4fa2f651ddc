// Money that is on no invoice is found by a filter.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const ask = async (method: string, path: string, body?: object) =>
	(await tenant.ask(method, path, { ...(body && { body }) })).body
const idsOf = async (query: string) =>
	(await ask('GET', `/api/payments?${query}`)).data.map(({ id }: { id: string }) => id) as string[]

it('Payments with money that is on no invoice are found, newest first, alone and beside other filters', async () => {
	const { id: companyId } = await ask('POST', '/api/companies', { name: 'Acme' })
	const { id: invoiceId } = await ask('POST', '/api/invoices', { totalCents: 500, companyId })
	const pay = async (body: object) => {
		server.clock.now += 1
		return (await ask('POST', '/api/payments', { amountCents: 500, ...body })).id as string
	}
	const applied = await pay({ invoiceId })
	const spare = await pay({ companyId })
	const other = await pay({})
	const reversed = await pay({})
	await ask('POST', `/api/payments/${reversed}/reverse`)
	expect(await idsOf('available=true')).toEqual([other, spare])
	expect(await idsOf(`available=true&companyId=${companyId}`)).toEqual([spare])
	expect(await idsOf('available=true&source=manual&limit=1')).toEqual([other])
	expect(await idsOf(`available=true&invoiceId=${invoiceId}`)).toEqual([])
	expect(await idsOf('available=false')).toEqual([reversed, applied])
	expect(await idsOf('available=false&status=succeeded')).toEqual([applied])
	await ask('PATCH', `/api/invoices/${invoiceId}`, { totalCents: 200 })
	expect(await idsOf('available=true')).toEqual([other, spare, applied])
	expect((await ask('GET', '/api/payments?available=true')).meta.total).toBe(3)
	const { meta } = await ask('GET', '/api/payments?available=true&limit=2')
	expect(await idsOf(`available=true&limit=2&cursor=${meta.nextCursor}`)).toEqual([applied])
	expect(await tenant.ask('GET', '/api/payments?available=maybe')).toMatchObject({
		...{ status: 400, body: { errors: [{ parameter: 'available' }] } },
	})
})
