// Webhooks of providers make runs due, as the stand-ins of the vendors send them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret, stripeSecret } from '../../../test/leaks.ts'
import { connect, fromHubSpot, newSync, type TestSync, toHubSpot } from '../../../test/syncs.ts'
import { always } from '../../../test/vendors/faults.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { FakeStripe } from '../../../test/vendors/stripe.ts'
import { hmac } from '../../../test/vendors/webhooks.ts'
import { FakeXero } from '../../../test/vendors/xero.ts'
import type { MappingCreate } from '../../generated/contract.ts'
import { query } from '../../platform/db/database.ts'

const hubspot = new FakeHubSpot()
const xero = new FakeXero()
const stripe = new FakeStripe()
let server: TestServer
let tenant: Tenant
let connectionId: string
beforeAll(async () => {
	const settings = await Promise.all([hubspot, xero, stripe].map(async (vendor) => (await vendor.start()).settings))
	server = await startTestServer({
		...Object.assign({}, ...settings),
		PROVIDER_HUBSPOT_WEBHOOK_SECRET: hubspot.webhookSecret,
		PROVIDER_XERO_WEBHOOK_SECRET: xero.webhookSecret,
	})
	for (const vendor of [hubspot, xero, stripe]) vendor.clock = () => server.clock.now
})
afterAll(async () => {
	await server.close()
	for (const vendor of [hubspot, xero, stripe]) await vendor.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	hubspot.meet([])
	hubspot.companies.clear()
	hubspot.changes.length = 0
	stripe.customers.clear()
	stripe.changes.length = 0
	connectionId = await connect(tenant, 'hubspot', hubspot)
})

const urlOf = (provider: string) => `${server.url}/connections/webhooks/${provider}`
const runsOf = async ({ id }: TestSync) => (await tenant.remit.syncs.runs.list(id)).data.reverse()
/** Runs on a busy machine take their time. */
const patient = { timeout: 15_000 }

/** The last run, once so many have come to their end. */
const ended = async (sync: TestSync, count: number) => {
	const finished = async () => {
		await server.runJobs()
		return (await runsOf(sync)).filter(({ finishedAt }) => finishedAt !== null).length
	}
	await expect.poll(finished, patient).toBe(count)
	return sync.lastRun()
}
const dueJobs = async () => (await server.db.all(jobs, { organizationId: tenant.organizationId, now: server.clock.now })).length
const fromStripe: MappingCreate = {
	...fromHubSpot,
	name: 'From Stripe',
	source: { system: 'stripe', object: 'customers' },
	fields: [{ target: 'name', source: 'name', required: true }],
	match: { keys: ['name'], onMultiple: 'conflict' },
}

describe('a webhook', () => {
	it('of HubSpot begins a run of each sync that reads from the account: few, however many come', async () => {
		const sync = await newSync(server, tenant, connectionId, fromHubSpot)
		const out = await newSync(server, tenant, connectionId, toHubSpot)
		hubspot.seed('companies', 30)
		const statuses = await hubspot.sendWebhooks(urlOf('hubspot'), { doubled: true, shuffled: 7 })
		expect(new Set(statuses)).toEqual(new Set([200]))
		expect(statuses).toHaveLength(60)
		expect(await dueJobs()).toBeLessThanOrEqual(1)
		const created = async () => {
			await server.runJobs()
			return (await runsOf(sync)).reduce((sum, { progress }) => sum + progress.created, 0)
		}
		await expect.poll(created, patient).toBe(30)
		const runs = await runsOf(sync)
		expect(runs[0]).toMatchObject({ trigger: 'webhook', mode: 'incremental' })
		// Jobs run beside the webhooks, so that a run may have been under way.
		expect(runs.length).toBeLessThan(10)
		expect(await runsOf(out)).toEqual([])
	})

	it('is followed by a second run once the index of the provider has what it lagged behind', async () => {
		hubspot.seed('companies', 1, { at: server.clock.now - 3_600_000 })
		const sync = await newSync(server, tenant, connectionId, fromHubSpot)
		await sync.run()
		hubspot.searchLagMs = 60_000
		hubspot.seed('companies', 1)
		await hubspot.sendWebhooks(urlOf('hubspot'))
		expect(await ended(sync, 2)).toMatchObject({ trigger: 'webhook', progress: { created: 0 } })
		server.clock.now += 120_000
		expect(await ended(sync, 3)).toMatchObject({ trigger: 'webhook', progress: { created: 1 } })
		hubspot.searchLagMs = 0
		server.clock.now += 3_600_000
		await ended(sync, 3)
		expect((await runsOf(sync)).map(({ trigger }) => trigger)).toEqual(['manual', 'webhook', 'webhook'])
	})

	it('that comes while a run is under way begins another when that one ends', async () => {
		hubspot.seed('companies', 150, { at: server.clock.now - 3_600_000 })
		const sync = await newSync(server, tenant, connectionId, fromHubSpot)
		const isPage = ({ path }: { path: string }) => path.includes('/objects/')
		hubspot.meet([null, { kind: 'rate_limited', retryAfter: 30 }], isPage)
		await tenant.remit.syncs.run(sync.id)
		await server.runJobs()
		expect(await sync.lastRun()).toMatchObject({ status: 'waiting' })
		for (let times = 0; times < 3; times++) {
			await hubspot.sendWebhooks(urlOf('hubspot'), { changes: hubspot.changes.slice(0, 1) })
			await server.runJobs()
		}
		expect(await runsOf(sync)).toHaveLength(1)
		expect(await sync.finish()).toMatchObject({ status: 'succeeded', trigger: 'webhook' })
		expect((await runsOf(sync)).map(({ trigger, status }) => [trigger, status])).toEqual([
			['manual', 'succeeded'],
			['webhook', 'succeeded'],
		])
	})

	it('begins nothing that is paused, deleted or of a disabled connection, and is 200 all the same', async () => {
		const sync = await newSync(server, tenant, connectionId, fromHubSpot)
		hubspot.seed('companies', 1)
		const send = () => hubspot.sendWebhooks(urlOf('hubspot'))
		await tenant.remit.syncs.pause(sync.id)
		expect(await send()).toEqual([200])
		await tenant.remit.syncs.resume(sync.id)
		await tenant.remit.connections.update(connectionId, { status: 'disabled' })
		expect(await send()).toEqual([200])
		await tenant.remit.connections.update(connectionId, { status: 'active' })
		await tenant.remit.syncs.delete(sync.id)
		expect(await send()).toEqual([200])
		expect(await dueJobs()).toBe(0)
	})

	it('wakes the syncs of every organization that has the account, and of no other account', async () => {
		const sync = await newSync(server, tenant, connectionId, fromHubSpot)
		const other = await server.newTenant()
		const theirs = await newSync(server, other, await connect(other, 'hubspot', hubspot), fromHubSpot)
		hubspot.seed('companies', 1)
		await hubspot.sendWebhooks(urlOf('hubspot'))
		await ended(sync, 1)
		await expect.poll(async () => (await theirs.lastRun())?.trigger, patient).toBe('webhook')
		const body = JSON.stringify([{ portalId: 1 }])
		expect(await post('hubspot', body, signed(body))).toBe(200)
		expect(await dueJobs()).toBe(0)
	})

	it('of a provider that fails fails its run alone', async () => {
		const sync = await newSync(server, tenant, connectionId, fromHubSpot)
		hubspot.seed('companies', 1)
		hubspot.meet(always({ kind: 'html' }), ({ path }) => path.includes('/objects/'))
		expect(await hubspot.sendWebhooks(urlOf('hubspot'))).toEqual([200])
		await expect.poll(async () => sync.lastRun().then((run) => run?.trigger ?? server.runJobs()), patient).toBe('webhook')
		expect(await sync.finish()).toMatchObject({ status: 'failed', trigger: 'webhook' })
	})
})

const post = async (provider: string, body: string, headers: Record<string, string>) =>
	(await fetch(urlOf(provider), { method: 'POST', body, headers })).status

const signed = (body: string, at = server.clock.now, secret = hubspot.webhookSecret) => ({
	'x-hubspot-request-timestamp': String(at),
	'x-hubspot-signature-v3': hmac(secret, `POST${urlOf('hubspot')}${body}${at}`),
})

describe('a webhook of HubSpot', () => {
	it('without the right signature, changed, or older than five minutes is 400 invalid_signature', async () => {
		const body = JSON.stringify([{ portalId: hubspot.portalId }])
		const { now } = server.clock
		const rejected: Record<string, string>[] = [
			{},
			signed(`${body} `),
			signed(body, now, 'another'),
			signed(body, now - 300_001),
			signed(body, now + 300_001),
			{ ...signed(body), 'x-hubspot-request-timestamp': String(now - 1) },
			{ 'x-hubspot-signature-v3': hmac(hubspot.webhookSecret, `POST${urlOf('hubspot')}${body}`) },
		]
		for (const headers of rejected) expect(await post('hubspot', body, headers)).toBe(400)
		const answer = await fetch(urlOf('hubspot'), { method: 'POST', body })
		expect(await answer.json()).toMatchObject({ code: 'invalid_signature' })
		expect(await post('hubspot', body, signed(body, now - 299_000))).toBe(200)
		expect(await post('hubspot', 'no JSON', signed('no JSON'))).toBe(400)
		for (const odd of ['{}', 'null', '[null, 1, {"portalId": {}}]']) expect(await post('hubspot', odd, signed(odd))).toBe(200)
	})

	it('of more than 512 KiB is 413, and wrong ones of one address are refused after a while', async () => {
		const strict = await startTestServer({ ...server.settings, GUESS_RATE_LIMIT: 3, INTEGRATION_RATE_LIMIT: 3 })
		const large = 'x'.repeat(513 * 1024)
		const send = async (body: string, headers = {}) =>
			(await fetch(`${strict.url}/connections/webhooks/hubspot`, { method: 'POST', body, headers })).status
		strict.clock.now = server.clock.now
		const own = (body: string) => ({
			'x-hubspot-request-timestamp': String(server.clock.now),
			'x-hubspot-signature-v3': hmac(
				hubspot.webhookSecret,
				`POST${strict.url}/connections/webhooks/hubspot${body}${server.clock.now}`,
			),
		})
		for (let times = 0; times < 10; times++) expect(await send('[]', own('[]'))).toBe(200)
		expect(await send(large)).toBe(413)
		expect([await send('[]'), await send('[]'), await send('[]')]).toEqual([400, 400, 429])
		await strict.close()
	})
})

describe('a webhook of Xero', () => {
	it('proves the endpoint: 200 to a good signature and 401 to a bad one', async () => {
		expect(await xero.intentToReceive(urlOf('xero'))).toBe(true)
	})

	it('is 401 with a bad signature, however many of its address had one: 429 would prove nothing', async () => {
		const strict = await startTestServer({ ...server.settings, GUESS_RATE_LIMIT: 1 })
		for (let times = 0; times < 4; times++)
			expect(await xero.intentToReceive(`${strict.url}/connections/webhooks/xero`)).toBe(true)
		await strict.close()
	})

	it('begins the runs of its tenant', async () => {
		const { id: clientId, secret: clientSecret } = xero.tokens.client
		const credentials = { clientId, clientSecret }
		const made = { provider: 'xero', name: 'Xero', authType: 'client_credentials', credentials } as const
		const { id } = await tenant.remit.connections.create(made)
		expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
		const fromXero: MappingCreate = {
			...fromHubSpot,
			source: { system: 'xero', object: 'contacts' },
			fields: [{ target: 'name', source: 'Name', required: true }],
			match: { keys: ['name'], onMultiple: 'conflict' },
		}
		const sync = await newSync(server, tenant, id, fromXero)
		xero.seed('contacts', 2)
		expect(await xero.sendWebhooks(urlOf('xero'), { doubled: true })).toEqual([200, 200, 200, 200])
		// What comes after a run has ended begins another.
		const runs = () => server.runJobs().then(() => runsOf(sync))
		const ofWebhook = expect.objectContaining({ trigger: 'webhook', status: 'succeeded' })
		await expect.poll(runs, patient).toContainEqual(ofWebhook)
	})
})

describe('a webhook of Stripe', () => {
	const connectStripe = async (webhookSecret?: string) => {
		const credentials = { apiKey: stripe.token, ...(webhookSecret !== undefined && { webhookSecret }) }
		const made = { provider: 'stripe', name: 'Stripe', authType: 'api_key', credentials } as const
		const { id } = await tenant.remit.connections.create(made)
		expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
		return { id, url: urlOf(`stripe/${tenant.organizationId}/${id}`) }
	}

	it('goes to its connection, is signed with the secret there, and reads the whole list every 15 minutes at most', async () => {
		const { id, url } = await connectStripe(stripe.webhookSecret)
		const sync = await newSync(server, tenant, id, fromStripe)
		stripe.seed('customers', 2)
		expect(await stripe.sendWebhooks(url)).toEqual([200, 200])
		await ended(sync, 1)
		for (let times = 0; times < 3; times++) {
			await stripe.sendWebhooks(url)
			await server.runJobs()
		}
		expect(await runsOf(sync)).toMatchObject([{ trigger: 'webhook', status: 'succeeded', progress: { read: 2 } }])
		for (let times = 0; times < 2; times++) {
			server.clock.now += 15 * 60_000
			await ended(sync, 2)
		}
	})

	it('is 404 where no connection has a secret, and 400 with another one', async () => {
		stripe.seed('customers', 1)
		expect(await stripe.sendWebhooks((await connectStripe()).url)).toEqual([404])
		expect(await stripe.sendWebhooks(urlOf(`stripe/${tenant.organizationId}/con_nobody`))).toEqual([404])
		expect(await stripe.sendWebhooks((await connectStripe('whsec_another')).url)).toEqual([400])
	})

	it('has a secret that no answer shows and no other provider takes', async () => {
		const { id } = await connectStripe(stripe.webhookSecret)
		expect((await tenant.ask('GET', `/connections/${id}`)).text).not.toContain(stripe.webhookSecret)
		const credentials = { apiKey: secret('key'), webhookSecret: stripeSecret('whsec', 'x') }
		const refused = await tenant.ask('PATCH', `/connections/${connectionId}`, { body: { credentials } })
		expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_connection' } })
	})
})

it('webhooks of a provider for which the server has no secret are 404', async () => {
	const plain = await startTestServer()
	expect((await fetch(`${plain.url}/connections/webhooks/hubspot`, { method: 'POST' })).status).toBe(404)
	expect((await fetch(`${plain.url}/connections/webhooks/nobody`, { method: 'POST' })).status).toBe(404)
	await plain.close()
})

const jobs = query<{ organizationId: string; now: number }, { kind: string }>((knex, { organizationId, now }) =>
	knex('jobs').where({ organizationId, kind: 'syncWebhook' }).where('dueAt', '<=', now).select('kind'),
)
