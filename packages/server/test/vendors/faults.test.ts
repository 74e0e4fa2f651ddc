import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Called, caller } from './calls.ts'
import { always, faultKinds, faultPlans, planOf } from './faults.ts'
import { FakeHubSpot } from './hubspot.ts'
import { VendorProcess } from './process.ts'
import { FakeStripe } from './stripe.ts'
import { FakeXero } from './xero.ts'

it('the plan of a seed is always the same, and has every kind of fault in time', () => {
	expect(planOf(7)).toEqual(planOf(7))
	expect(planOf(7)).not.toEqual(planOf(8))
	expect(planOf(7, { length: 3 })).toEqual(planOf(7).slice(0, 3))
	const kinds = planOf(1, { length: 2000 }).flatMap((fault) => fault?.kind ?? [])
	expect(new Set(kinds)).toEqual(new Set(faultKinds))
	expect(planOf(1, { percent: 0 })).toEqual(Array(200).fill(null))
})

it('plans of a property test shrink to the one fault that matters', () => {
	const { counterexample } = fc.check(
		fc.property(faultPlans(), (plan) => plan.every((fault) => fault?.kind !== 'html')),
		{ seed: 3 },
	)
	expect(counterexample).toEqual([[{ kind: 'html' }]])
})

describe.each([
	['HubSpot', FakeHubSpot, 'companies', '/crm/objects/2026-03/companies?limit=2', '&after=10000000002'],
	['Xero', FakeXero, 'contacts', '/api.xro/2.0/Contacts?pageSize=2', '&page=2'],
	['Stripe', FakeStripe, 'customers', '/v1/customers?limit=2', '&starting_after=cus_00000000000002'],
])('%s', (_, Vendor, object, path, further) => {
	let vendor: FakeHubSpot | FakeXero | FakeStripe
	let get: (path: string, token?: string) => ReturnType<ReturnType<typeof caller>>

	beforeEach(async () => {
		vendor = await new Vendor().start()
		const call = caller(vendor, vendor instanceof FakeXero ? { 'xero-tenant-id': vendor.tenants[0]?.tenantId ?? '' } : {})
		get = (path, token = vendor.token) => call('GET', path, { token })
		vendor.seed(object, 5)
	})
	afterEach(() => vendor.stop())

	it('meets the faults of a plan one after the other, and then none', async () => {
		vendor.meet([
			{ kind: 'rate_limited', retryAfter: 3 },
			{ kind: 'rate_limited' },
			{ kind: 'error', status: 503 },
			null,
			{ kind: 'slow', ms: 5 },
		])
		const answers = [await get(path), await get(path), await get(path), await get(path), await get(path), await get(path)]
		expect(answers.map(({ status }) => status)).toEqual([429, 429, 503, 200, 200, 200])
		expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(['3', null, null, null, null, null])
		expect(vendor.log.map(({ fault }) => fault)).toEqual(['rate_limited', 'rate_limited', 'error', undefined, 'slow', undefined])
	})

	it.each(['cut', 'lost', 'cut_in_body', 'truncated', 'html'] as const)('an answer is no JSON: %s', async (kind) => {
		vendor.meet([{ kind }])
		await expect(get(path)).rejects.toThrow()
		expect((await get(path)).status).toBe(200)
		expect(vendor.log.map(({ status }) => status)).toEqual([kind === 'truncated' || kind === 'html' ? 200 : 0, 200])
	})

	it('a token that can be refreshed expires, a static one does not', async () => {
		const { accessToken } = vendor.tokens.grant()
		vendor.meet([null, { kind: 'token_expired' }])
		expect([(await get(path, accessToken)).status, (await get(path, accessToken)).status]).toEqual([200, 401])
		expect((await get(path)).status).toBe(200)
	})

	it('the next page begins with the last record of the one before', async () => {
		vendor.meet([null, { kind: 'duplicate' }])
		const recordsOf = ({ json }: Called) => Object.values(json).find((value) => Array.isArray(value)) as unknown[]
		const first = recordsOf(await get(path))
		expect(recordsOf(await get(path + further))[0]).toEqual(first.at(-1))
	})

	it('a place in a list is gone where it can be', async () => {
		vendor.meet(always({ kind: 'cursor_expired' }))
		expect((await get(path)).status).toBe(200)
		expect((await get(path + further)).status).toBe(vendor instanceof FakeXero ? 200 : 400)
	})

	it('only those requests meet faults that a test picks', async () => {
		vendor.meet(always({ kind: 'error', status: 500 }), ({ query }) => query.has('never'))
		expect((await get(path)).status).toBe(200)
		expect((await get(`${path}&never=1`)).status).toBe(500)
	})

	it('answers are compressed for a client that asks, and counted as they are sent', async () => {
		const plain = await fetch(vendor.url + path, { headers: { 'accept-encoding': 'identity' } })
		const zipped = await fetch(vendor.url + path, { headers: { 'accept-encoding': 'gzip' } })
		expect([plain.headers.get('content-encoding'), zipped.headers.get('content-encoding')]).toEqual([null, 'gzip'])
		expect(await plain.json()).toMatchObject({})
		expect(vendor.log.map(({ bytes }) => bytes)).toEqual(
			[plain, zipped].map(({ headers }) => Number(headers.get('content-length'))),
		)
	})
})

it('a reader that asks again reads everything, and meets the same faults in the same order each time', async () => {
	const plan = planOf(11, { percent: 50, kinds: faultKinds.filter((kind) => kind !== 'slow' && kind !== 'cursor_expired') })
	const run = async () => {
		const vendor = await new FakeHubSpot().start()
		const ids = vendor.seed('companies', 40)
		vendor.meet(plan)
		const call = caller(vendor)
		const read = new Set<string>()
		for (let after: string | undefined = '0'; after !== undefined; ) {
			const page: Called | undefined = await call('GET', `/crm/objects/2026-03/companies?limit=2&after=${after}`).catch(
				() => undefined,
			)
			if (page?.status !== 200) continue
			for (const { id } of page.json.results) read.add(id)
			after = page.json.paging?.next.after
		}
		await vendor.stop()
		expect([...read].toSorted()).toEqual(ids)
		return vendor.log.map(({ path, fault, status }) => [path, fault, status])
	}
	const first = await run()
	expect(first.flatMap(([, fault]) => fault ?? []).length).toBeGreaterThan(10)
	expect(await run()).toEqual(first)
})

it('a vendor in its own process is told what to do', async () => {
	const vendor = await VendorProcess.start('hubspot')
	const ids = await vendor.control('seed', { object: 'companies', count: 3 })
	await vendor.control('remove', { object: 'companies', id: ids[0] as string })
	await vendor.control('faults', { plan: [{ kind: 'error', status: 500 }] })
	const get = async () =>
		fetch(`${vendor.url}/crm/objects/2026-03/companies`, { headers: { authorization: `Bearer ${vendor.token}` } })
	expect((await get()).status).toBe(500)
	expect(await (await get()).json()).toMatchObject({ results: [{ id: ids[1] }, { id: ids[2] }] })
	expect(await vendor.control('log', {})).toMatchObject([{ status: 500 }, { status: 200 }])
	await expect(vendor.control('list', { object: 'deals' })).rejects.toThrow('There is no object deals')
	await vendor.stop()
})
