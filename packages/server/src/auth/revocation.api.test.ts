// A key, a session or a role that ends while requests are under way, on this process and on another one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../test/harness.ts'
import { revokeKey } from '../api-keys/store.ts'
import type { Db } from '../db/database.ts'
import { Callers } from './caller.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

describe('look-ups of one key', () => {
	/** Callers whose look-ups wait until they are let go. */
	function heldCallers() {
		let lookUps = 0
		const begin = Promise.withResolvers<void>()
		const held: Db = Object.create(server.db, {
			get: {
				value: async (...args: Parameters<Db['get']>) => {
					lookUps++
					const row = await server.db.get(...args)
					await begin.promise
					return row
				},
			},
		})
		const callers = new Callers(held as typeof server.db, () => server.clock.now)
		const identify = (key: string) => callers.identify({ authorization: `Bearer ${key}` }, async () => {})
		return { callers, identify, go: begin.resolve, lookUps: () => lookUps }
	}

	it('are one for all the requests that wait for it', async () => {
		const [one, other] = [await server.newKey(['read']), await server.newKey(['read'])]
		const { identify, go, lookUps } = heldCallers()
		const waiting = [one, one, one, other, one].map(({ key }) => identify(key))
		go()
		expect((await Promise.all(waiting)).map(({ id }) => id)).toEqual([one, one, one, other, one].map(({ id }) => id))
		expect(lookUps()).toBe(2)
	})

	it('that began before a revocation serve no request after it', async () => {
		const { id, key } = await server.newKey(['read'])
		const { callers, identify, go } = heldCallers()
		const before = identify(key)
		// Its row is read by then.
		await server.db.get({ build: (knex) => knex('api_keys').where({ id }) }, {})
		await server.db.transaction((tx) => revokeKey(server.writing(tx), id))
		callers.forget(server.organizationId)
		const after = identify(key)
		go()
		expect(await before).toMatchObject({ id })
		await expect(after).rejects.toMatchObject({ code: 'invalid_credentials' })
		await expect(identify(key)).rejects.toMatchObject({ code: 'invalid_credentials' })
	})

	it('that fail are made again by the next request', async () => {
		const { id, key } = await server.newKey(['read'])
		const lost: Db = Object.create(server.db, { get: { value: () => Promise.reject(new Error('lost')), configurable: true } })
		const callers = new Callers(lost as typeof server.db, () => server.clock.now)
		const identify = () => callers.identify({ authorization: `Bearer ${key}` }, async () => {})
		for (const { status } of await Promise.allSettled([identify(), identify()])) expect(status).toBe('rejected')
		Object.defineProperty(lost, 'get', { value: server.db.get.bind(server.db) })
		expect(await identify()).toMatchObject({ id })
	})
})
