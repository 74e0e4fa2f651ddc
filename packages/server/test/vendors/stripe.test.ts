import Stripe from 'stripe'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeProvider } from '../provider.ts'
import { caller } from './calls.ts'
import { FakeStripe } from './stripe.ts'

let vendor: FakeStripe
let call: ReturnType<typeof caller>

beforeEach(async () => {
	vendor = await new FakeStripe().start()
	call = caller(vendor)
})
afterEach(() => vendor.stop())

const post = (path: string, form: Record<string, string>, key?: string) =>
	call('POST', path, { body: new URLSearchParams(form), headers: key ? { 'idempotency-key': key } : {} })

it("Stripe's own client reads all pages, the newest customer first", async () => {
	const ids = vendor.seed('customers', 230)
	const { hostname: host, port } = new URL(vendor.url)
	const client = new Stripe(vendor.token, { host, port, protocol: 'http', telemetry: false })
	const read: string[] = []
	for await (const { id } of client.customers.list({ limit: 100 })) read.push(id)
	expect(read).toEqual(ids.toReversed())
	const newer = await client.customers.list({ ending_before: ids[200], limit: 2 })
	expect([newer.data.map(({ id }) => id), newer.has_more]).toEqual([[ids[202], ids[201]], true])
})

it('lists what was created since, and not what was deleted', async () => {
	vendor.clock = () => 1_000_000
	const [old = '', gone = ''] = vendor.seed('customers', 2)
	vendor.clock = () => 2_000_000
	const [young = ''] = vendor.seed('customers', 1)
	expect((await call('DELETE', `/v1/customers/${gone}`)).json).toMatchObject({ id: gone, deleted: true })
	const ids = async (query: string) => (await call('GET', `/v1/customers${query}`)).json.data.map(({ id }: { id: string }) => id)
	expect(await ids('')).toEqual([young, old])
	expect(await ids('?created[gte]=2000')).toEqual([young])
	expect((await call('GET', `/v1/customers/${gone}`)).json.deleted).toBe(true)
	const lost = await call('GET', `/v1/customers?starting_after=${gone}`)
	expect([lost.status, lost.json.error.code]).toEqual([400, 'resource_missing'])
})

it('answers a key with what it answered first, and rejects it for anything else', async () => {
	const first = await post('/v1/customers', { name: 'Ada', 'address[country]': 'DE' }, 'k1')
	expect(first.json).toMatchObject({ name: 'Ada', address: { country: 'DE' } })
	await post(`/v1/customers/${first.json.id}`, { name: 'Ada Ltd', 'metadata[remit]': 'com_1' })
	const again = await post('/v1/customers', { name: 'Ada', 'address[country]': 'DE' }, 'k1')
	expect([again.json, again.headers.get('idempotent-replayed')]).toEqual([first.json, 'true'])
	expect((await post('/v1/customers', { name: 'Grace' }, 'k1')).json.error.type).toBe('idempotency_error')
	expect(vendor.customers.list().map(({ data }) => data.name)).toEqual(['Ada Ltd'])
})

it('rejects what Stripe rejects, with the parameter', async () => {
	expect((await post('/v1/customers', { colour: 'red' })).json.error).toMatchObject({
		code: 'parameter_unknown',
		param: 'colour',
	})
	expect((await post('/v1/customers', { email: 'nobody' })).json.error.param).toBe('email')
	expect((await post('/v1/invoices', {})).json.error.code).toBe('parameter_missing')
	expect((await call('GET', '/v1/customers', { token: 'sk_test_other' })).status).toBe(401)
	expect((await call('GET', '/v2/customers')).status).toBe(404)
})

it('tells its events, and sends them signed, doubled and out of order', async () => {
	const [id = ''] = vendor.seed('customers', 1)
	vendor.customers.change(id, { name: 'Ada' })
	vendor.seed('invoices', 1)
	const { data } = (await call('GET', '/v1/events?types[]=customer.*')).json
	expect(data.map(({ type }: { type: string }) => type)).toEqual(['customer.updated', 'customer.created'])
	const receiver = await new FakeProvider().start()
	const ids: string[] = []
	receiver.answer = async (request, response) => {
		const body = Buffer.concat(await request.toArray()).toString()
		const signature = String(request.headers['stripe-signature'])
		ids.push(Stripe.webhooks.constructEvent(body, signature, vendor.webhookSecret).id)
		response.end()
	}
	expect(await vendor.sendWebhooks(receiver.url, { doubled: true, shuffled: 5 })).toEqual([200, 200, 200, 200, 200, 200])
	await receiver.stop()
	const all = ['evt_00000000000001', 'evt_00000000000002', 'evt_00000000000003']
	expect(ids.toSorted()).toEqual(all.flatMap((id) => [id, id]))
	expect(ids).not.toEqual(ids.toSorted())
})
