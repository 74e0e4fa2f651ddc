// PostgreSQL keeps the plan of a statement that was made while its tables were empty, until it has counted their rows by itself.
import { expect, inject, it } from 'vitest'
import { newDatabase } from './databases.ts'
import { startSubscriber } from './deliveries.ts'
import { startTestServer } from './harness.ts'
import { connect } from './plans.ts'

const tables = ['companies', 'events', 'webhook_deliveries', 'webhook_endpoints', 'audit_log', 'api_keys', 'jobs']

it('No table is read as a whole by a statement that was planned while there were no rows', async () => {
	const { settings, drop } = await newDatabase('postgres', inject('template'))
	const { ask, end } = await connect(settings)
	await ask('vacuum analyze')
	const server = await startTestServer(settings)
	const org = await startSubscriber(server)
	await org.newEndpoint('company.*')
	const company = await org.change('first')
	for (let n = 0; n < 20; n++) await org.change(`name ${n}`, company)
	await org.settle(...Array(21).fill('succeeded'))
	await org.stop()
	// A connection tells what it has read when it ends, at the latest.
	await server.close()
	// The harness reads all events once.
	const read = await ask('select relname as name, seq_scan as count from pg_stat_user_tables where seq_scan > 1')
	const whole = read.filter(({ name }) => tables.includes(String(name)))
	await end()
	await drop()
	expect(whole).toEqual([])
})
