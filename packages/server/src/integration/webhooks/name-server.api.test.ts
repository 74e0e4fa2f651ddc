// A tenant whose name server is dead waits for itself only.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { NameServer } from '../../../test/name-server.ts'
import { Sink } from '../../../test/sink.ts'
import { openResolver } from '../../platform/outside/resolver.ts'

let names: NameServer
let server: TestServer
beforeAll(async () => {
	names = await new NameServer((name) =>
		name.endsWith('live.example') ? { addresses: ['127.0.0.1'], ttl: 1 } : 'silence',
	).start()
	server = await startTestServer({}, openResolver({ servers: [names.address], timeoutMs: 6_000 }))
})
afterAll(async () => {
	await server.close()
	await names.stop()
})

it('an endpoint whose host is not looked up in time answers 503, stores nothing, and delays nobody else', async () => {
	const [patient, busy] = [await server.newTenant(), await server.newTenant()]
	const sink = await new Sink().start()
	const { port } = new URL(sink.url)
	const create = (host: string) => ({
		body: { url: `http://${host}:${port}/hook`, eventTypes: ['*'] },
		headers: { 'Idempotency-Key': host },
	})
	const subscribe = async (host: string) => {
		const { status, body } = await patient.ask('POST', '/webhooks/endpoints', create(host))
		expect(status).toBe(201)
		sink.secrets.push(body.secret)
	}
	await subscribe('live.example')
	let answered = 0
	const dead = Array.from({ length: 12 }, async (_, n) => {
		const answer = await busy.ask('POST', '/webhooks/endpoints', create(`${n}.dead.example`))
		answered++
		return answer
	})
	// Eight wait for the name server; the others find the share of their organization used up.
	await expect.poll(() => answered, { interval: 5, timeout: 5_000 }).toBe(4)

	await subscribe('also.live.example')
	await patient.remit.companies.create({ name: 'Acme' })
	await sink.events(2)
	expect(answered).toBe(4)

	for (const { status, body, headers } of await Promise.all(dead)) {
		expect({ status, code: body.code, retry: headers.get('retry-after') }).toEqual({
			status: 503,
			code: 'resolver_unavailable',
			retry: '5',
		})
	}
	expect((await busy.remit.webhooks.endpoints.list()).data).toEqual([])
	// The key is free for another try.
	const again = await busy.ask('POST', '/webhooks/endpoints', create('0.dead.example'))
	expect(again).toMatchObject({ status: 503, body: { code: 'resolver_unavailable' } })
	expect(sink.problems).toEqual([])
	await sink.stop()
})
