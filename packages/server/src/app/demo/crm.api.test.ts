// The demo CRM: a sync of its companies moves, and only a server in development has it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { counts } from '../../../test/syncs.ts'
import { bySystem } from '../../platform/base/origin.ts'
import { connectDemo } from './connect.ts'
import { crmKey, crmPath } from './crm.ts'
import { createDemo } from './demo.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ NODE_ENV: 'development' })
})
afterAll(() => server.close())

const ask = async (method: string, path: string, body?: object, key = crmKey) => {
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
	const answer = await fetch(server.url + crmPath + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
	return { status: answer.status, body: answer.status === 204 ? undefined : ((await answer.json()) as { data?: unknown[] }) }
}

it('Its companies come with the first run, one of them to a company that the demo has, and one changes each minute', async () => {
	const { key } = await createDemo(server.db, bySystem(server.clock.now))
	const syncId = await connectDemo(server.url, key)
	const { Remit } = await import('@remit/sdk')
	const remit = new Remit({ apiKey: key, baseUrl: server.url })
	const run = async () => {
		await server.runJobs()
		const { lastRun } = await remit.syncs.get(syncId)
		return remit.syncs.runs.get(syncId, lastRun?.id as string)
	}
	expect(counts(await run())).toEqual({ read: 12, created: 11, updated: 1 })
	server.clock.now += 2 * 300_000
	const second = await run()
	expect(second).toMatchObject({ trigger: 'schedule', status: 'succeeded' })
	expect(second.progress.updated).toBeGreaterThanOrEqual(4)
	expect(counts(second).created).toBeUndefined()
})

it('It takes what a company has, and nothing else', async () => {
	const { status, body } = await ask('POST', '/companies', { name: 'New', domain: 'new.example' })
	expect([status, body]).toEqual([
		201,
		{
			id: expect.stringMatching(/^[0-9a-f-]{36}$/),
			name: 'New',
			domain: 'new.example',
			phone: null,
			city: null,
			country: null,
			updatedAt: expect.any(String),
		},
	])
	const path = `/companies/${(body as { id?: string }).id}`
	expect(await ask('PATCH', path, { city: 'Ulm' })).toMatchObject({ status: 200, body: { name: 'New', city: 'Ulm' } })
	expect((await ask('GET', '/companies?domain=new.example')).body?.data).toMatchObject([{ city: 'Ulm' }])
	expect((await ask('GET', '/companies/112')).status).toBe(200)
	expect((await ask('GET', '/companies?page=2&limit=5')).body?.data).toHaveLength(5)
	expect(await ask('PATCH', path, { size: 3 })).toMatchObject({
		status: 422,
		body: { error: { message: expect.stringContaining('no size') } },
	})
	expect((await ask('PATCH', path, { city: 'x'.repeat(501) })).status).toBe(422)
	expect((await ask('POST', '/companies', [])).status).toBe(422)
	expect((await ask('POST', '/companies', { name: 'x'.repeat(20_000) })).status).toBe(413)
	expect(await ask('DELETE', path)).toEqual({ status: 204, body: undefined })
	expect((await ask('GET', path)).status).toBe(404)
	expect((await ask('GET', '/companies', undefined, 'other')).status).toBe(401)
	for (let n = 12; n < 200; n++) expect((await ask('POST', '/companies', { name: `${n}` })).status).toBe(201)
	expect((await ask('POST', '/companies', { name: 'One more' })).status).toBe(422)
})

it.each(['production', 'test'] as const)('A server in %s has none', async (NODE_ENV) => {
	const other = await startTestServer({ NODE_ENV, PAYMENT_PROCESSOR: 'none' })
	const answer = await fetch(`${other.url}${crmPath}/companies`, { headers: { authorization: `Bearer ${crmKey}` } })
	expect(answer.status).toBe(404)
	await other.close()
})
