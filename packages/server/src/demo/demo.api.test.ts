// The demo organization, asked as a newcomer asks it: in development, where every answer is judged by the contract.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../test/harness.ts'
import { bySystem } from '../base/origin.ts'
import { operations } from '../contract/routes.ts'
import { createDemo } from './demo.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer({ NODE_ENV: 'development' })
})
afterAll(() => server.close())

it('every list of the demo organization fits the contract', async () => {
	const { key } = await createDemo(server.db, bySystem(server.clock.now))
	for (const { id, method, path } of operations) {
		if (method !== 'GET' || path.includes('{')) continue
		const { status } = await server.ask('GET', path, { key })
		expect([id, status]).toEqual([id, 200])
	}
})
