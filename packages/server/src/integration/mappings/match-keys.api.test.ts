// Mappings to a provider match by what can be looked up there: else every record would be a new one.
import { expect, it } from 'vitest'
import { toCrm, useCrm } from '../../../test/crm.ts'
import { newSync } from '../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()

const byTitle = { ...toCrm, match: { keys: ['title'], onMultiple: 'conflict' as const } }
const atKey = (detail: string) => ({
	status: 422,
	code: 'invalid_mapping',
	errors: [{ pointer: '/match/keys/0', code: 'no_match_key', detail }],
})

it.each([
	['by other fields', {}, 'The provider looks up firms by www, and not by title.'],
	['by none', { lookUpFields: [] }, 'The provider looks up no firms, so that none is found by title.'],
])('A mapping of a connection whose object is looked up %s cannot match by a field', async (_, object, detail) => {
	const connectionId = await crm.connect(tenant, object)
	await expect(tenant.remit.mappings.create({ ...byTitle, connectionId })).rejects.toMatchObject(atKey(detail))
	const { id } = await tenant.remit.mappings.create({ ...byTitle, connectionId, match: null })
	await expect(tenant.remit.mappings.update(id, { match: byTitle.match })).rejects.toMatchObject(atKey(detail))
})

it('A mapping of no connection is tested by what its provider has', async () => {
	const toStripe = {
		...{ name: 'To Stripe', source: toCrm.source, target: { system: 'stripe', object: 'customers' }, status: 'active' as const },
		fields: [{ target: 'name', source: 'name' }],
		match: { keys: ['name'], onMultiple: 'conflict' as const },
	}
	const detail = 'The provider looks up customers by email, and not by name.'
	await expect(tenant.remit.mappings.create(toStripe)).rejects.toMatchObject(atKey(detail))
})

it('A sync is not made with a mapping that matches by what its connection cannot look up, and one that is there can be changed', async () => {
	const connectionId = await crm.connect(tenant)
	await expect(newSync(server, tenant, connectionId, byTitle)).rejects.toMatchObject({
		status: 422,
		code: 'invalid_sync',
		errors: [{ pointer: '/mappingId', detail: expect.stringContaining('looks up firms by www, and not by title.') }],
	})
	const { id } = await newSync(server, tenant, connectionId, toCrm)
	const { mappingId } = await tenant.remit.syncs.get(id)
	await tenant.remit.mappings.update(mappingId, { match: byTitle.match })
	expect(await tenant.remit.syncs.update(id, { name: 'Renamed' })).toEqual({ ok: true })
})
