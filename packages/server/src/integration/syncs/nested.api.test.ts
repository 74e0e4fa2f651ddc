// What a mapping writes of an object in the provider's record leaves the rest of that object as it is.
import { expect, it } from 'vitest'
import { toCrm, useCrm } from '../../../test/crm.ts'
import { counts, newSync } from '../../../test/syncs.ts'

const { server, tenant, crm } = useCrm()

it.each([
	['is answered by its id', {}, { street: 'Kai 1', geo: { lat: 1, city: 'Kiel' }, tags: ['a'] }],
	['is not, and the API takes what it gets', { readPath: undefined }, { geo: { city: 'Kiel' } }],
])('A field of an object is written alone, of a record that %s', async (_, object, address) => {
	const { id } = await tenant.remit.companies.create({ name: 'Acme', domain: 'acme.example', billingCity: 'Bonn' })
	const before = { street: 'Kai 1', geo: { lat: 1, city: 'Bonn' }, tags: ['a'] }
	crm.put('1', { www: 'acme.example', title: 'Acme', address: before } as never)
	const fields = [
		{ target: 'title', source: 'name' },
		{ target: 'www', source: 'domain' },
		{ target: 'address.geo.city', source: 'billingCity' },
	]
	const sync = await newSync(server, tenant, await crm.connect(tenant, object), { ...toCrm, fields })
	expect(counts(await sync.run())).toEqual({ read: 1, unchanged: 1 })
	await tenant.remit.companies.update(id, { billingCity: 'Kiel' })
	expect(counts(await sync.run())).toEqual({ read: 1, updated: 1 })
	expect(crm.firms.get('1')).toMatchObject({ title: 'Acme' })
	expect((crm.firms.get('1') as never as { address: object }).address).toEqual(address)
})
