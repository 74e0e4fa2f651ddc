// Servers on one database, whose clocks differ by as much as nobody corrects: what is stored later has no earlier time.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { readConfig } from '../../config.ts'
import { type RunningServer, startServer } from '../../server.ts'
import { openDatabase } from '../db/drivers/open.ts'

let ahead: TestServer
let behind: RunningServer
const behindMs = 900
beforeAll(async () => {
	ahead = await startTestServer()
	const config = { ...readConfig({ PORT: '0', NODE_ENV: 'test' }), ...ahead.settings, INVOICING_RATE_LIMIT: 0 }
	const log = pino({ level: 'silent' })
	behind = await startServer({ db: await openDatabase(config, log), config, log, now: () => ahead.clock.now - behindMs })
})
afterAll(async () => {
	await behind.close()
	await ahead.close()
})

const kinds: readonly (readonly [path: string, body: object, change: object])[] = [
	['companies', { name: 'Acme' }, { name: 'Other' }],
	['contacts', { name: 'Ada' }, { name: 'Other' }],
	['deals', { name: 'Website', currency: 'EUR' }, { name: 'Other' }],
	['time-entries', { durationSeconds: 60 }, { description: 'Other' }],
	['invoices', { totalCents: 100, currency: 'EUR' }, { notes: 'Other' }],
]

it.each(kinds)(
	'what the slower one creates or changes of %s is found since the last change of the other',
	async (path, body, change) => {
		const tenant = await ahead.newTenant()
		const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' }
		const send = async (url: string, method: string, to: string, body: object) => {
			const answer = await fetch(`${url}/api/${to}`, { method, headers, body: JSON.stringify(body) })
			expect(answer.ok).toBe(true)
			return (await answer.json()) as { id: string }
		}
		const whole = path === 'time-entries' ? { ...body, dealId: await tenant.newDeal() } : body
		const post = async (url: string) => (await send(url, 'POST', path, whole)).id
		const newest = async () => {
			const { body } = await tenant.ask('GET', `/api/${path}`)
			return Math.max(...(body.data as { updatedAt: number }[]).map(({ updatedAt }) => updatedAt))
		}
		const since = async (time: number) => {
			const { body } = await tenant.ask('GET', `/api/${path}?updatedSince=${time}`)
			return (body.data as { id: string }[]).map(({ id }) => id).sort()
		}
		const first = await post(ahead.url)
		const seen = await newest()
		const second = await post(behind.url)
		expect(await since(seen)).toEqual([first, second].sort())
		ahead.clock.now += 100
		await tenant.ask('PATCH', `/api/${path}/${first}`, { body: change })
		const then = await newest()
		expect(then).toBeGreaterThan(seen)
		await send(behind.url, 'PATCH', `${path}/${second}`, change)
		expect(await since(then)).toEqual([first, second].sort())
	},
)

it('A clock that was far ahead does not keep the others there', async () => {
	const tenant = await ahead.newTenant()
	const create = async () => (await tenant.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id as string
	const { now } = ahead.clock
	ahead.clock.now += 24 * 3_600_000
	await create()
	ahead.clock.now = now
	const { data } = (await tenant.ask('GET', `/api/companies/${await create()}`)).body
	expect(data.updatedAt).toBe(now)
})
