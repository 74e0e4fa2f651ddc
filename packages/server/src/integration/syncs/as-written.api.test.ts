// What a provider spells in its own way it still has as it was written.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connect, counts, type HubSpotServer, newSync, startWithHubSpot, toHubSpot } from '../../../test/syncs.ts'

let server: HubSpotServer
beforeAll(async () => {
	server = await startWithHubSpot()
})
afterAll(() => server.close())

it.each([
	[12.5, '12.50', { unchanged: 1 }],
	['12.50', '12.5', { unchanged: 1 }],
	[12.5, '12.51', { updated: 1 }],
	['0049', '49', { updated: 1 }],
])('A number %j that matches a record with %j', async (constant, found, counted) => {
	const { hubspot } = server
	hubspot.companies.clear()
	const tenant = await server.newTenant()
	hubspot.companies.put({ name: 'Acme', domain: 'acme.example', annualrevenue: found })
	await tenant.remit.companies.create({ name: 'Acme', domain: 'acme.example' })
	const fields = [...toHubSpot.fields, { target: 'properties.annualrevenue', constant }]
	const sync = await newSync(server, tenant, await connect(tenant, 'hubspot', hubspot), { ...toHubSpot, fields })
	expect(counts(await sync.run())).toEqual({ read: 1, ...counted })
	expect(hubspot.companies.list()).toHaveLength(1)
})
