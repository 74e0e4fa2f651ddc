// ROLE: one process takes requests and another does what needs none, over one PostgreSQL.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { Sink } from './sink.ts'

const log = pino({ level: 'silent' })
let api: TestServer
let sink: Sink
let worker: RunningServer | undefined
beforeAll(async () => {
	api = await startTestServer({ ROLE: 'api' })
	sink = await new Sink().start()
})
afterAll(async () => {
	await worker?.close()
	await sink.stop()
	await api.close()
})

it('A process with ROLE=api takes requests and does nothing else; one with ROLE=worker does it, and answers for itself alone', async () => {
	await sink.subscribe(api.remit, 'invoice.*')
	const { id } = await api.remit.invoices.create({ totalCents: 100, status: 'sent', dueDate: '2026-01-01' })
	await api.runJobs()
	expect(sink.received).toEqual([])
	expect((await api.remit.invoices.get(id)).status).toBe('sent')

	const base = readConfig({ PORT: '0', EGRESS_ALLOW_CIDRS: '127.0.0.0/8', NODE_ENV: 'test' })
	const config = { ...base, ...api.settings, ROLE: 'worker' as const }
	worker = await startServer({ db: await openDatabase(config, log), config, log })
	const types = (await sink.events(4, 20_000)).map(({ type }) => type)
	expect(types).toEqual(['invoice.created', 'invoice.sent', 'invoice.updated', 'invoice.overdue'])
	await api.remit.invoices.update(id, { status: 'paid' })
	await sink.events(6, 20_000)

	expect(worker.setupPath).toBeUndefined()
	const statusOf = async (path: string) => (await fetch((worker as RunningServer).url + path)).status
	expect(await Promise.all(['/health', '/ready', '/api/invoices', '/view/invoice/x', '/nowhere'].map(statusOf))).toEqual([
		...[200, 200],
		...[404, 404, 404],
	])
})
