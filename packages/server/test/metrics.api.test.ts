// What Prometheus sees: requests by operation, webhooks by outcome, what waits, and the database's connections.
import { once } from 'node:events'
import { get } from 'node:http'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { Backlog } from '../src/app/metrics/backlog.ts'
import { startSubscriber } from './deliveries.ts'
import { startTestServer, type TestServer } from './harness.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ METRICS_PORT: 0, METRICS_HOSTS: ['remit.monitoring.svc'] })
})
afterAll(() => server.close())

/** The samples by name and labels. */
async function scrape(): Promise<Map<string, number>> {
	const response = await fetch(server.metricsUrl as string)
	expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)])
	const lines = (await response.text()).split('\n').filter((line) => line && !line.startsWith('#'))
	return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

it('counts requests by operation and status, and nothing that a caller names', async () => {
	const { id } = await server.remit.companies.create({ name: 'Acme' })
	for (const path of [`/api/companies/${id}`, '/api/companies/co_unknown', `/secret-path-${id}`, '/view/invoice/a-token'])
		await server.ask('GET', path).catch(() => {})
	const samples = await scrape()
	expect(samples.get('remit_requests_total{operation="companies.create",status="201"}')).toBe(1)
	expect(samples.get('remit_requests_total{operation="companies.get",status="200"}')).toBe(1)
	expect(samples.get('remit_requests_total{operation="companies.get",status="404"}')).toBe(1)
	expect(samples.get('remit_requests_total{operation="other",status="404"}')).toBe(2)
	expect(samples.get('remit_request_duration_seconds_count{operation="companies.get"}')).toBe(2)
	const names = [...samples.keys()].join('\n')
	for (const text of [id, 'co_unknown', 'secret-path', 'a-token', server.organizationId]) expect(names).not.toContain(text)
	expect(names).toMatch(/^nodejs_eventloop_lag_seconds/m)
	const busy = samples.get('remit_database_connections{use="reads",state="waiting"}')
	expect(busy).toBe(inject('database') === 'sqlite' ? undefined : 0)
})

it('answers to addresses and names without a dot, and to other names that METRICS_HOSTS has', async () => {
	const { port } = new URL(server.metricsUrl as string)
	const statusFor = async (host: string) => {
		const [answer] = await once(get({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }), 'response')
		answer.resume()
		return answer.statusCode
	}
	const known = ['127.0.0.1', `10.0.0.7:${port}`, `[::1]:${port}`, 'localhost', `remit:${port}`, `Remit.Monitoring.svc:${port}`]
	for (const host of known) expect([host, await statusFor(host)]).toEqual([host, 200])
	for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example'])
		expect([host, await statusFor(host)]).toEqual([host, 421])
})

it('counts attempts of webhooks by outcome, and what waits', async () => {
	const org = await startSubscriber(server)
	await org.newEndpoint('company.created')
	await org.change('a')
	await org.settle('succeeded')
	org.sink.answer = { status: 500 }
	await org.change('b')
	await org.settle('retrying', 'succeeded')
	const samples = await scrape()
	expect(samples.get('remit_webhook_attempts_total{outcome="succeeded"}')).toBe(1)
	expect(samples.get('remit_webhook_attempts_total{outcome="retrying"}')).toBe(1)
	for (const name of ['remit_webhook_due', 'remit_webhook_due_seconds']) expect([name, samples.get(name)]).toEqual([name, 0])
	// The server's own jobs may be due when it looks.
	for (const name of ['remit_jobs_due', 'remit_jobs_due_seconds']) expect(samples.get(name)).toBeGreaterThanOrEqual(0)
	const inAnHour = server.clock.now + 3_600_000
	const later = new Backlog({ db: server.db, now: () => inAnHour, log: pino({ level: 'silent' }) })
	await expect.poll(() => later.deliveries.count, { timeout: 10_000 }).toBe(1)
	const retrySeconds = 5
	expect(later.ageOf(later.deliveries)).toBeGreaterThan(3_600 - 2 * retrySeconds)
	expect(later.ageOf(later.deliveries)).toBeLessThanOrEqual(3_600)
	expect(later.jobs.count).toBeGreaterThan(0)
	await later.close()
	await org.stop()
})

it('says for how long what waits has not been counted, as while the database does not answer', async () => {
	expect((await scrape()).get('remit_due_age_seconds')).toBeGreaterThan(0)
	const answers = Promise.withResolvers<void>()
	const get: typeof server.db.get = (query, params) => answers.promise.then(() => server.db.get(query, params))
	const backlog = new Backlog({ db: { ...server.db, get }, now: () => server.clock.now, log: pino({ level: 'silent' }) })
	await expect.poll(() => backlog.age, { timeout: 10_000 }).toBeGreaterThan(0.5)
	answers.resolve()
	await expect.poll(() => backlog.age, { timeout: 10_000, interval: 1 }).toBeLessThan(0.5)
	await backlog.close()
})

it('is nowhere unless it is asked for, and answers nothing else', async () => {
	expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
	expect((await fetch((server.metricsUrl as string).replace('metrics', 'x'))).status).toBe(404)
	const without = await startTestServer()
	expect(without.metricsUrl).toBeUndefined()
	await without.close()
})
