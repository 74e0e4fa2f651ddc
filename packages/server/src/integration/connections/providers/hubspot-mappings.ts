import type { MappingCreate } from '../../../generated/contract.ts'

/** A field as it is, from one side to the other. */
const same: readonly (readonly [company: string, property: string])[] = [
	['phone', 'phone'],
	['billingAddressLine1', 'address'],
	['billingCity', 'city'],
	['billingState', 'state'],
	['billingPostalCode', 'zip'],
	['billingCountry', 'country'],
]

export const hubspotMappings: readonly MappingCreate[] = [
	{
		name: 'HubSpot companies to Remit',
		source: { system: 'hubspot', object: 'companies' },
		target: { system: 'internal', object: 'company' },
		fields: [
			// HubSpot has companies of which only the domain is known.
			{
				target: 'name',
				source: 'properties.name',
				transforms: [{ name: 'coalesce', paths: ['properties.domain'] }],
				required: true,
			},
			{
				target: 'domain',
				source: 'properties.domain',
				transforms: [{ name: 'domainFromUrl' }],
				onError: 'skip_field',
			},
			...same.map(([target, property]) => ({ target, source: `properties.${property}` })),
		],
		match: { keys: ['domain'], onMultiple: 'conflict' },
		status: 'active',
	},
	{
		name: 'Companies to HubSpot',
		source: { system: 'internal', object: 'company' },
		target: { system: 'hubspot', object: 'companies' },
		fields: [
			{ target: 'properties.name', source: 'name' },
			{ target: 'properties.domain', source: 'domain' },
			...same.map(([source, property]) => ({ target: `properties.${property}`, source })),
		],
		match: { keys: ['properties.domain'], onMultiple: 'first' },
		status: 'active',
	},
]
