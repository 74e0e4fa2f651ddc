import pg from 'pg'
import { expect, it } from 'vitest'
import { holdWrites, startTestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { openSetup } from '../../../test/people.ts'

it('Two who use the link at once make one admin', async () => {
	const server = await startTestServer()
	const token = await openSetup(server)
	const release = await holdWrites(server, 'users')
	const setUp = async (organizationName: string) => {
		const body = { token, organizationName, name: 'Ada', email: 'ada@new.example', password: secret('password') }
		return (await server.ask('POST', '/api/setup', { key: null, body })).status
	}
	const both = Promise.all([setUp('One'), setUp('Two')])
	const client = new pg.Client(server.settings.DATABASE_URL)
	await client.connect()
	await expect.poll(async () => (await client.query('select 1 from pg_locks where not granted')).rowCount).toBe(2)
	await client.end()
	await release()
	expect((await both).sort()).toEqual([201, 404])
	expect((await server.ask('GET', '/api/setup', { key: null })).body.data.isOpen).toBe(false)
	await server.close()
})
