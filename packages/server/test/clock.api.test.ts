// The machine's clock jumps by a day while the server runs. What each part does then is tested beside it.
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { scopes } from '../src/platform/auth/keys.ts'
import { dayMs } from '../src/platform/base/dates.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { Sink } from './sink.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

it.each([
	['forward by a day', dayMs],
	['back by a day', -dayMs],
	['back by half an hour', -dayMs / 48],
])('a clock that jumps %s stops no request, key, e-mail or webhook', async (_, jump) => {
	const { remit, ask, newKey, organizationId } = await server.newTenant()
	const sink = await new Sink().start()
	onTestFinished(() => sink.stop())
	await sink.subscribe({ webhooks: remit.webhooks }, 'company.*', 'invoice.sent')
	const { id } = await remit.companies.create({ name: 'Before' })
	const invoice = await remit.invoices.create({ companyId: id, totalCents: 5_000 })
	await sink.events(1)

	server.clock.now += jump
	const { key } = await newKey(scopes)
	const post = () =>
		ask('POST', '/api/companies', { key, body: { name: 'After' }, headers: { 'idempotency-key': organizationId } })
	const [first, again] = [await post(), await post()]
	expect([first.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
	await remit.companies.update(id, { name: 'Changed' })
	await remit.invoices.send(invoice.id, { to: 'billing@acme.example' })
	const types = ['company.created', 'company.created', 'company.updated', 'invoice.sent']
	expect((await sink.events(4)).map(({ type }) => type).toSorted()).toEqual(types)
	expect(sink.problems).toEqual([])
	const feed = (await remit.webhooks.events.list()).data.map(({ type }) => type)
	expect(feed.filter((type) => types.includes(type)).toSorted()).toEqual(types)
})
