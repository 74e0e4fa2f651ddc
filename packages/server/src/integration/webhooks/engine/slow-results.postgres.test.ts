// What the engine does while PostgreSQL does not take the results of attempts.
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSubscriber } from '../../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'

let server: TestServer
let sql: pg.Client
beforeAll(async () => {
	server = await startTestServer({ METRICS_PORT: 0 })
	sql = new pg.Client(server.settings.DATABASE_URL)
	await sql.connect()
})
afterAll(async () => {
	await sql.end()
	await server.close()
})

const waiting = async () =>
	(await sql.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)).rowCount

/** How many attempts have ended. */
async function ended(): Promise<number> {
	const text = await (await fetch(server.metricsUrl as string)).text()
	return Number(/^remit_webhook_attempts_total\{outcome="succeeded"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

it('Others are delivered meanwhile, but nothing twice whose lease has ended before its result was written', async () => {
	const org = await startSubscriber(server)
	await org.newEndpoint('company.*')
	await org.change('first')
	await org.settle('succeeded')
	await sql.query('begin; lock table webhook_attempts in share mode')
	await org.change('second')
	await expect.poll(waiting).toBe(1)
	await org.change('third')
	await expect.poll(ended).toBe(3)
	// As after a pause of the machine.
	server.clock.now += 120_000
	for (const name of ['fourth', 'fifth']) await org.change(name)
	await sql.query('rollback')
	await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded')
	expect(org.arrived()).toEqual(['first', 'second', 'third', 'fourth', 'fifth'])
	await org.stop()
})
