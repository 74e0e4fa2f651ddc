// How the tests ask the operations of this folder.
import { setTimeout } from 'node:timers/promises'
import type { Tenant } from '../../test/harness.ts'
import { peopleSync } from '../../test/people-api.ts'
import { made, type Samples } from '../../test/sample.ts'

const idle = async (tenant: Tenant) => made(tenant, '/syncs', { ...(await peopleSync(tenant)), start: false })

/** A sync whose run waits for its provider. */
const busy = async (tenant: Tenant) => made(tenant, '/syncs', await peopleSync(tenant, 'busy'))

const paused = async (tenant: Tenant) => {
	const id = await idle(tenant)
	await tenant.ask('POST', `/syncs/${id}/pause`)
	return id
}

/** Waits for the last run of a sync to leave off; returns both ids. */
async function ran(tenant: Tenant, id: string): Promise<[string, string]> {
	for (;;) {
		const [run] = (await tenant.ask('GET', `/syncs/${id}/runs?limit=1`)).body.data
		if (run.finishedAt !== null || run.status === 'waiting') return [id, run.id]
		await setTimeout(20)
	}
}

const done = async (tenant: Tenant) => ran(tenant, await made(tenant, '/syncs', await peopleSync(tenant)))

const linked = async (tenant: Tenant) => [(await done(tenant))[0], '1']

/** A sync, and the error of the one record that its provider has. */
async function failed(tenant: Tenant, mapping: object, settings: object = {}): Promise<[string, string]> {
	const input = { ...(await peopleSync(tenant, 'listing', mapping)), ...settings }
	const [id] = await ran(tenant, await made(tenant, '/syncs', input))
	const [error] = (await tenant.ask('GET', `/syncs/${id}/errors`)).body.data
	return [id, error.id]
}

const nameless = { fields: [{ target: 'name', source: 'title', required: true }] }

const matchedByName = {
	fields: [
		{ target: 'name', source: 'name' },
		{ target: 'phone', constant: '0' },
	],
	match: { keys: ['name'], onMultiple: 'first' },
}

async function conflicted(tenant: Tenant): Promise<[string, string]> {
	await made(tenant, '/api/companies', { name: 'Ada' })
	return failed(tenant, matchedByName, { conflictPolicy: 'manual' })
}

/** A sync whose provider lists nobody any more. */
async function emptied(tenant: Tenant): Promise<[string, string]> {
	const id = await made(tenant, '/syncs', { ...(await peopleSync(tenant, 'emptied')), deletePolicy: 'delete' })
	await ran(tenant, id)
	await tenant.ask('POST', `/syncs/${id}/run`, { body: { mode: 'full' } })
	return ran(tenant, id)
}

export const samples: Samples = {
	syncs: {
		make: idle,
		body: async () => ({ name: 'All people', schedule: { type: 'interval', minutes: 15 } }),
		broken: async () => ({ body: { schedule: { type: 'cron', expression: '0 0 31 2 *' } } }),
	},
	'syncs.create': {
		body: async (tenant) => ({ ...(await peopleSync(tenant)), start: false }),
		broken: async (tenant) => ({ body: { ...(await peopleSync(tenant)), direction: 'outbound' } }),
	},
	'syncs.run': {
		make: idle,
		contradicting: async (tenant) => ({ id: await paused(tenant) }),
	},
	'syncs.pause': { make: idle },
	'syncs.resume': { make: paused },
	'syncs.cancel': { make: busy, contradicting: async (tenant) => ({ id: await idle(tenant) }) },
	'syncs.errors.list': { make: async (tenant) => (await conflicted(tenant))[0] },
	'syncs.errors': { make: conflicted },
	'syncs.errors.resolve': {
		make: conflicted,
		body: async () => ({ use: 'target' }),
		altered: { use: 'source' },
		contradicting: async (tenant) => ({ id: await failed(tenant, nameless) }),
	},
	'syncs.links.create': {
		make: idle,
		body: async (tenant) => ({ externalId: '1', recordId: await made(tenant, '/api/companies', { name: 'Ada' }) }),
		broken: async () => ({ body: { externalId: '1', recordId: 'cmp_none' } }),
		contradicting: async (tenant) => ({ id: await busy(tenant) }),
	},
	'syncs.links.get': { make: linked },
	'syncs.links.list': { make: async (tenant) => (await done(tenant))[0] },
	'syncs.links.delete': { make: linked, contradicting: async (tenant) => ({ id: [await busy(tenant), '1'] }) },
	'syncs.runs': { make: done },
	'syncs.runs.list': { make: async (tenant) => (await done(tenant))[0] },
	'syncs.runs.deletions.list': { make: emptied },
	'syncs.runs.confirm': { make: emptied, contradicting: async (tenant) => ({ id: await done(tenant) }) },
}
