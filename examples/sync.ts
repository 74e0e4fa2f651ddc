// Brings the companies of a CRM, and keeps them in step. Here it is the demo CRM that every server has which was begun by `start`; for
// another one `baseUrl`, the key and the names of fields differ.
import { Remit } from '@remit/sdk'

const remit = new Remit()
const crm = `${process.env.REMIT_BASE_URL}/demo/crm`

const connection = await remit.connections.create({
	provider: 'http_json',
	name: 'Our CRM',
	authType: 'api_key',
	credentials: { apiKey: 'demo-crm-key' },
	config: {
		baseUrl: crm,
		testPath: '/companies?limit=1',
		objects: [
			{
				name: 'companies',
				path: '/companies',
				records: 'data',
				idField: 'id',
				changedField: 'updatedAt',
				sinceParameter: 'since',
				pagination: { style: 'page', parameter: 'page', first: 1 },
				pageSize: { parameter: 'limit', size: 50 },
			},
		],
	},
})
const { status, statusReason } = await remit.connections.test(connection.id)
if (status !== 'active') throw new Error(`The CRM cannot be reached: ${statusReason}`)

const mapping = await remit.mappings.create({
	name: 'Companies of our CRM',
	source: { system: 'http_json', object: 'companies' },
	target: { system: 'internal', object: 'company' },
	fields: [
		{ target: 'name', source: 'name', required: true },
		{ target: 'domain', source: 'domain' },
		{ target: 'billingCity', source: 'city' },
	],
	// A company that is here already is linked and not created again.
	match: { keys: ['domain'], onMultiple: 'conflict' },
	status: 'active',
})
const sync = await remit.syncs.create({
	name: 'Companies of our CRM',
	connectionId: connection.id,
	mappingId: mapping.id,
	direction: 'inbound',
	schedule: { type: 'interval', minutes: 15 },
	start: false,
})

for await (const { status, progress } of remit.syncs.run(sync.id).progress())
	console.log(`${status}: ${progress.read} read, ${progress.created} created, ${progress.updated} updated`)
for await (const { externalId, errors } of remit.syncs.errors.list(sync.id))
	console.log(`${externalId} was not written: ${errors.map(({ field, reason }) => `${field} ${reason}`).join('; ')}`)
