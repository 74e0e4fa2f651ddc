// Connects the demo organization with the demo CRM, by the same calls as any program, so that a first look at syncs shows one that moves.
import type { MappingCreate } from '../../generated/contract.ts'
import { crmConfig, crmKey } from './crm.ts'

const mapping: MappingCreate = {
	name: 'Companies of the demo CRM',
	source: { system: 'http_json', object: 'companies' },
	target: { system: 'internal', object: 'company' },
	fields: [
		{ target: 'name', source: 'name', required: true },
		{ target: 'domain', source: 'domain' },
		{ target: 'phone', source: 'phone' },
		{ target: 'billingCity', source: 'city' },
		{ target: 'billingCountry', source: 'country' },
	],
	match: { keys: ['domain'], onMultiple: 'conflict' },
	status: 'active',
}

/** Returns the id of the sync, whose first run begins at once. `url` is the server's on this machine. */
export async function connectDemo(url: string, apiKey: string): Promise<string> {
	const { Remit } = await import('@remit/sdk')
	const remit = new Remit({ apiKey, baseUrl: url })
	const { id: connectionId } = await remit.connections.create({
		provider: 'http_json',
		name: 'Demo CRM',
		authType: 'api_key',
		credentials: { apiKey: crmKey },
		config: crmConfig(url),
	})
	const { status, statusReason } = await remit.connections.test(connectionId)
	if (status !== 'active') throw new Error(statusReason ?? status)
	const { id: mappingId } = await remit.mappings.create(mapping)
	const { id } = await remit.syncs.create({
		name: 'Companies from the demo CRM',
		connectionId,
		mappingId,
		direction: 'inbound',
		schedule: { type: 'interval', minutes: 5 },
	})
	return id
}
