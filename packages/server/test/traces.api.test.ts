// What a collector of traces gets, and that one that is slow or gone holds nothing up.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSubscriber } from './deliveries.ts'
import { startTestServer, type TestServer } from './harness.ts'

interface Span {
	readonly traceId: string
	readonly spanId: string
	readonly parentSpanId?: string
	readonly name: string
	readonly attributes: { key: string; value: Record<string, unknown> }[]
	readonly status: { code?: number }
}

/** A collector that takes spans as JSON. */
class Collector {
	readonly spans: Span[] = []
	readonly services = new Set<unknown>()
	headers: IncomingHttpHeaders = {}
	hang = false
	/** Whether the server has given up waiting for an answer. */
	givenUp = false
	readonly #server = createServer(async (req, res) => {
		this.headers = req.headers
		// biome-ignore lint/suspicious/noExplicitAny: OTLP is not ours to type.
		const { resourceSpans } = (await json(req)) as any
		for (const { resource, scopeSpans } of resourceSpans) {
			this.services.add(attribute(resource.attributes, 'service.name'))
			for (const { spans } of scopeSpans) this.spans.push(...spans)
		}
		res.once('close', () => {
			this.givenUp ||= !res.writableEnded
		})
		if (!this.hang) res.end('{}')
	})

	async start(): Promise<string> {
		this.#server.listen(0, '127.0.0.1')
		await once(this.#server, 'listening')
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections()
		await new Promise((closed) => this.#server.close(closed))
	}

	async find(name: string): Promise<Span> {
		const found = () => this.spans.find((span) => span.name === name)
		await expect.poll(found, { timeout: 15_000 }).toBeDefined()
		return found() as Span
	}
}

const attribute = (attributes: Span['attributes'], name: string) =>
	Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]

let collector: Collector
let server: TestServer
beforeAll(async () => {
	collector = new Collector()
	const OTEL_EXPORTER_OTLP_ENDPOINT = await collector.start()
	server = await startTestServer({
		OTEL_EXPORTER_OTLP_ENDPOINT,
		OTEL_EXPORTER_OTLP_HEADERS: { 'x-tenant': 'billing' },
		OTEL_SERVICE_NAME: 'remit-test',
	})
})
afterAll(async () => {
	await server.close()
	await collector.stop()
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'

it('a request goes on with the trace of its caller, and its calls are in it, without what is secret', async () => {
	const headers = { traceparent: `00-${traceId}-${parent}-01` }
	const { body } = await server.ask('POST', '/api/invoices', { headers, body: { totalCents: 5_000 } })
	await server.ask('POST', `/api/invoices/${body.id}/send`, { body: { to: 'ada@client.example' } })
	const { url } = await server.remit.invoices.clientLink.create(body.id)
	await fetch(`${server.url}${new URL(url).pathname}`)
	const created = await collector.find('invoices.create')
	expect(created).toMatchObject({ traceId, parentSpanId: parent })
	expect(attribute(created.attributes, 'http.route')).toBe('/api/invoices')
	expect(attribute(created.attributes, 'http.response.status_code')).toBe(201)
	expect(attribute(created.attributes, 'remit.organization_id')).toBe(server.organizationId)
	const transaction = collector.spans.find(({ parentSpanId }) => parentSpanId === created.spanId)
	expect(transaction).toMatchObject({ name: 'transaction', traceId })
	const mail = await collector.find('mail.send')
	const sent = await collector.find('invoices.send')
	expect(mail).toMatchObject({ traceId: sent.traceId, parentSpanId: sent.spanId })
	expect(sent.traceId).not.toBe(traceId)
	await collector.find('other')
	const all = JSON.stringify(collector.spans)
	for (const secret of [url.split('/').at(-1) as string, server.key, 'ada@client.example']) expect(all).not.toContain(secret)
	expect([...collector.services]).toEqual(['remit-test'])
	expect(collector.headers).toMatchObject({ 'x-tenant': 'billing' })
})

it('a webhook carries the trace of its attempt, and shows it', async () => {
	const org = await startSubscriber(server)
	await org.newEndpoint('company.created')
	await org.change('a')
	await org.settle('succeeded')
	const [, id, span] = String(org.sink.received[0]?.headers.traceparent).split('-')
	expect(await collector.find('webhooks.attempt')).toMatchObject({ traceId: id, spanId: span })
	expect((await org.read((await org.newest()).id)).request?.headers).toMatchObject({ traceparent: `00-${id}-${span}-01` })
	await org.stop()
})

it('a collector that hangs or is gone holds up no request and no stop, and gets what is left when the server stops', async () => {
	const hanging = new Collector()
	hanging.hang = true
	const gone = await hanging.start()
	const other = await startTestServer({ OTEL_EXPORTER_OTLP_ENDPOINT: gone })
	for (let count = 0; count < 20; count++) expect((await other.ask('GET', '/api/companies')).status).toBe(200)
	await other.close()
	// The spans were sent at the stop, which did not even wait until the exporter gave up.
	expect(hanging.spans.filter(({ name }) => name === 'companies.list')).toHaveLength(20)
	expect(hanging.givenUp).toBe(false)
	await hanging.stop()
	const without = await startTestServer({ OTEL_EXPORTER_OTLP_ENDPOINT: gone })
	expect((await without.ask('GET', '/api/companies')).status).toBe(200)
	await without.close()
})
