// How the tests ask the operations of this folder.
import { setTimeout } from 'node:timers/promises'
import type { Tenant } from '../../../test/harness.ts'
import { type Kind, peopleSync } from '../../../test/people-api.ts'
import { made, type Samples } from '../../../test/sample.ts'

const idle = async (tenant: Tenant) => made(tenant, '/syncs', { ...(await peopleSync(tenant)), start: false })

/** A sync whose run waits for its provider. */
const busy = async (tenant: Tenant) => made(tenant, '/syncs', await peopleSync(tenant, 'busy'))

const paused = async (tenant: Tenant) => {
	const id = await idle(tenant)
	await tenant.ask('POST', `/syncs/${id}/pause`)
	return id
}

const connectionOf = async (tenant: Tenant, id: string) => (await tenant.ask('GET', `/syncs/${id}`)).body.data.connectionId

/** A sync whose connection was deleted. */
async function unconnected(tenant: Tenant) {
	const id = await idle(tenant)
	await tenant.ask('DELETE', `/connections/${await connectionOf(tenant, id)}`)
	return id
}

/** Waits for the last run of a sync to leave off; returns both ids. */
async function ran(tenant: Tenant, id: string): Promise<[string, string]> {
	for (;;) {
		// A worker looks for what is due only every quarter of a second on PostgreSQL.
		await tenant.runJobs()
		const [run] = (await tenant.ask('GET', `/syncs/${id}/runs?limit=1`)).body.data
		if (run.finishedAt !== null || run.status === 'waiting') return [id, run.id]
		await setTimeout(20)
	}
}

const done = async (tenant: Tenant) => ran(tenant, await made(tenant, '/syncs', await peopleSync(tenant)))

const linked = async (tenant: Tenant) => [(await done(tenant))[0], '1']

/** A sync, and the error of the one record that its provider has. */
async function failed(tenant: Tenant, mapping: object, settings: object = {}, kind: Kind = 'listing'): Promise<[string, string]> {
	const input = { ...(await peopleSync(tenant, kind, mapping)), ...settings }
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

async function conflicted(tenant: Tenant, kind?: Kind): Promise<[string, string]> {
	await made(tenant, '/api/companies', { name: 'Ada' })
	return failed(tenant, matchedByName, { conflictPolicy: 'manual' }, kind)
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
		rejected: {
			invalid_sync: async () => ({ body: { schedule: { type: 'cron', expression: '0 0 31 2 *' } } }),
			unknown_connection: async (tenant) => ({ id: await unconnected(tenant) }),
		},
	},
	'syncs.create': {
		body: async (tenant) => ({ ...(await peopleSync(tenant)), start: false }),
		rejected: { invalid_sync: async (tenant) => ({ body: { ...(await peopleSync(tenant)), direction: 'outbound' } }) },
	},
	'syncs.run': {
		make: idle,
		rejected: {
			sync_paused: async (tenant) => ({ id: await paused(tenant) }),
			sync_already_running: async (tenant) => ({ id: await busy(tenant) }),
			sync_blocked: async (tenant) => ({ id: await unconnected(tenant) }),
		},
	},
	'syncs.pause': { make: idle },
	'syncs.resume': { make: paused },
	'syncs.cancel': { make: busy, rejected: { no_active_run: async (tenant) => ({ id: await idle(tenant) }) } },
	'syncs.errors.list': { make: async (tenant) => (await conflicted(tenant))[0] },
	'syncs.errors': { make: conflicted },
	'syncs.errors.resolve': {
		make: conflicted,
		body: async () => ({ use: 'target' }),
		altered: { use: 'source' },
		rejected: {
			nothing_to_resolve: async (tenant) => ({ id: await failed(tenant, nameless) }),
			conflict_changed: async () => ({ body: { use: 'target', version: 'another' } }),
			linked_already: async (tenant) => {
				const [id, error] = await conflicted(tenant)
				const { recordId } = (await tenant.ask('GET', `/syncs/${id}/errors/${error}`)).body.data
				await tenant.ask('POST', `/syncs/${id}/links`, { body: { externalId: '2', recordId } })
				return { id: [id, error] }
			},
			sync_already_running: async (tenant) => {
				const id = await conflicted(tenant, 'tiring')
				await tenant.ask('POST', `/syncs/${id[0]}/run`)
				return { id }
			},
		},
	},
	'syncs.links.create': {
		make: idle,
		body: async (tenant) => ({ externalId: '1', recordId: await made(tenant, '/api/companies', { name: 'Ada' }) }),
		rejected: {
			invalid_sync_link: async () => ({ body: { externalId: '1', recordId: 'cmp_none' } }),
			linked_already: async (tenant) => ({ id: (await linked(tenant))[0] }),
			connection_disabled: async (tenant) => {
				const id = await idle(tenant)
				await tenant.ask('PATCH', `/connections/${await connectionOf(tenant, id)}`, { body: { status: 'disabled' } })
				return { id }
			},
			sync_already_running: async (tenant) => ({ id: await busy(tenant) }),
			sync_blocked: async (tenant) => ({ id: await unconnected(tenant) }),
		},
	},
	'syncs.links.get': { make: linked },
	'syncs.links.list': { make: async (tenant) => (await done(tenant))[0] },
	'syncs.links.delete': {
		make: linked,
		rejected: { sync_already_running: async (tenant) => ({ id: [await busy(tenant), '1'] }) },
	},
	'syncs.runs': { make: done },
	'syncs.runs.list': { make: async (tenant) => (await done(tenant))[0] },
	'syncs.runs.deletions.list': { make: emptied },
	'syncs.runs.confirm': { make: emptied, rejected: { nothing_to_confirm: async (tenant) => ({ id: await done(tenant) }) } },
}
