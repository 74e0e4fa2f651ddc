// For every operation of the contract: a request that fits never makes the server fail, and one that does not fit is rejected
// with the place of its mistake. fast-check prints a failing input with its seed.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { ConnectionConfig, ConnectionCredentials, LineItemInput, Stage } from '../src/generated/contract.ts'
import {
	type ContractOperation,
	type ContractParameter,
	contractOperations,
	type JsonSchema,
} from '../src/platform/contract/document.ts'
import { type Operation, operations } from '../src/platform/contract/routes.ts'
import { fitting, members, mutants, type Overrides, unlike } from './arbitrary.ts'
import { type Answer, startTestServer, type TestServer } from './harness.ts'
import { png } from './images.ts'
import { peopleSync } from './people-api.ts'
import { pathOf, sampleOf } from './samples.ts'

/** FUZZ_FACTOR=500 searches for longer. */
const factor = Number(process.env.FUZZ_FACTOR ?? 1)
const runs = { numRuns: 12 * factor }
/** A request about a run may wait a second until there is one. */
const timeout = 30_000 * factor

/** Mostly the usual value, and once in 20 times the unusual one. */
const mostly = (usual: fc.Arbitrary<unknown>, unusual: unknown) =>
	fc.oneof({ weight: 19, arbitrary: usual }, { weight: 1, arbitrary: fc.constant(unusual) })

/** Stands for a time entry that is created just before the request. */
const newEntry = 'te_new'

/** Stands for a connection, or a mapping, that is created just before the request. */
const newOne = 'one_new'

let server: TestServer
let overrides: Overrides
beforeAll(async () => {
	// In development a server compares its two validators, for which the database does not matter.
	server = await startTestServer(inject('database') === 'sqlite' ? { NODE_ENV: 'development' } : {})
	const idOf = async (path: string, body: object): Promise<string> => (await server.ask('POST', path, { body })).body.id
	const pipeline = (await server.ask('GET', '/api/pipelines')).body.data[0]
	const deals = [await server.newDeal(), await server.newDeal({ stage: 'won' })]
	const owed = await idOf('/api/invoices', { totalCents: 999_999_999_999, currency: 'USD' })
	overrides = {
		// Large ones would pay all that the invoice owes.
		amountCents: fc.integer({ min: 1, max: 1_000 }),
		invoiceId: mostly(fc.constant(owed), 'inv_unknown'),
		allocations: mostly(fc.constant([{ invoiceId: owed, amountCents: 1 }]), [{ invoiceId: 'inv_unknown', amountCents: 1 }]),
		companyId: mostly(fc.constant(await idOf('/api/companies', { name: 'Acme', billingEmail: 'b@acme.example' })), 'cmp_unknown'),
		recordId: mostly(fc.constant(await idOf('/api/companies', { name: 'Linked' })), 'cmp_unknown'),
		contactId: mostly(fc.constant(await idOf('/api/contacts', { name: 'Jana Vogel' })), 'ct_unknown'),
		dealId: mostly(fc.constantFrom(...deals), 'dl_unknown'),
		pipelineId: mostly(fc.constant(pipeline.id), 'pl_unknown'),
		stage: mostly(fc.constantFrom(...pipeline.stages.map(({ key }: Stage) => key)), 'unknown'),
		headers: someHeaders,
		stages: mostly(someStages, []).filter((stages) => (stages as Stage[]).length > 0),
		taxRateId: mostly(fc.constant(await idOf('/api/tax-rates', { name: 'VAT', percent: '8.1' })), 'txr_unknown'),
		vatId: mostly(fc.constantFrom('DE136695976', null), 'DE1'),
		iban: mostly(fc.constantFrom('DE89 3704 0044 0532 0130 00', null), 'DE1'),
		accentColor: mostly(fc.constantFrom('#0f5c4d', '#000000', null), '#ffcc00'),
		data: mostly(fc.constantFrom(png(2, 2, [9, 9, 9]).toString('base64'), png(3, 1, [0, 0, 0]).toString('base64')), 'AAAA'),
		periodStart: fc.constantFrom('2026-03-01', null),
		periodEnd: mostly(fc.constantFrom('2026-03-31', null), '2026-02-01'),
		source: mostly(fc.constant({ system: 'http_json', object: 'people' }), { system: 'unknown', object: 'people' }),
		target: mostly(fc.constant({ system: 'internal', object: 'company' }), { system: 'xero', object: 'contacts' }),
		fields: mostly(fc.constant([{ target: 'name', source: 'name', required: true }]), [{ target: '[' }]),
		match: mostly(fc.constantFrom(null, { keys: ['name'], onMultiple: 'first' }), { keys: ['notes'], onMultiple: 'skip' }),
		records: fc.array(fc.dictionary(fc.constantFrom('name', '__proto__', 'a/b'), fc.jsonValue({ maxDepth: 3 })), {
			minLength: 1,
			maxLength: 3,
		}),
		expiresAt: mostly(fc.constantFrom('2099-01-01T00:00:00Z', null), '2001-09-09T01:46:40Z'),
		objects: fc.constant([{ name: 'people', path: '/people', idField: 'id', pagination: { style: 'none' } }]),
		connectionId: mostly(fc.constant(newOne), 'con_unknown'),
		mappingId: mostly(fc.constant(newOne), 'map_unknown'),
		timeEntryIds: fc.array(mostly(fc.constant(newEntry), 'te_unknown'), { minLength: 1, maxLength: 3 }),
	}
})
afterAll(() => server.close())

/** Headers with names that differ. */
const someHeaders = fc.uniqueArray(
	fc.record({ name: fc.stringMatching(/^X-[A-Za-z]{1,9}$/), value: fc.stringMatching(/^[!-~]{1,20}$/) }),
	{ selector: ({ name }) => name.toLowerCase(), maxLength: 10 },
)

/** Stages with unique keys; some advance to the last one. */
const someStages = fc
	.uniqueArray(
		fc.record({
			key: fc.stringMatching(/^[a-z0-9_-]{1,50}$/),
			label: fc.constant('Stage'),
			type: fc.constantFrom('open', 'won', 'lost'),
		}),
		{
			selector: ({ key }) => key,
			minLength: 1,
			maxLength: 5,
		},
	)
	.chain((stages) =>
		fc.tuple(
			...stages.map((stage, index) =>
				index === stages.length - 1
					? fc.constant(stage)
					: fc.constantFrom<Stage>(stage, { ...stage, advanceOnInvoicePaidTo: (stages.at(-1) as Stage).key }),
			),
		),
	)

interface Request {
	readonly id: string | readonly string[]
	readonly query: Record<string, string>
	readonly headers: Record<string, string>
	readonly body: unknown
}

const contractOf = (operation: Operation) => contractOperations.get(operation.id) as ContractOperation
const bodyOf = (operation: Operation) => contractOf(operation).requestBody?.content['application/json']?.schema as JsonSchema
const inPlace = (operation: Operation, place: string) =>
	contractOf(operation).parameters.filter((parameter) => parameter.in === place)

/** Parameters as text; each may be absent. */
const parameters = (all: readonly ContractParameter[]) =>
	fc
		.record(Object.fromEntries(all.map(({ name, schema }) => [name, fitting(schema)])), { requiredKeys: [] })
		.map((values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])))

/** Whether a header arrives as it was sent: ASCII without white space at its ends. */
const isHeader = (value: string) => /^[!-~]([ -~]*[!-~])?$/.test(value)

/** The body without the fields that can contradict each other: with random ones nearly every request breaks a business rule. */
function sensible(body: unknown): unknown {
	const { endedAt, ...fields } = body as Record<string, unknown>
	const others = previewsGiven(synchronizes(connects(paysOne(fields))))
	// A payment must not be yet to come.
	if (others.paidAt !== undefined) others.paidAt = '2001-09-09T01:46:40Z'
	// A stored time entry must not begin after its end, and only one without a user may run at a time.
	if (others.startedAt !== undefined) others.startedAt = '2001-09-09T01:46:40Z'
	// A link leads back to where the organization lets it.
	if (others.returnUrl !== undefined) others.returnUrl = 'https://app.example/settings'
	if (others.userId === null) delete others.userId
	// A decision that names the version of another conflict is rejected.
	delete others.version
	const { lineItems, subtotalCents, taxCents, totalCents, ...rest } = others
	if (!Array.isArray(lineItems)) return others
	return { ...rest, lineItems: lineItems.map(({ id, kind, quantity, discountCents, taxes, ...line }: LineItemInput) => line) }
}

/** A preview has records, or says in one way where they are. */
function previewsGiven({ externalIds, recordIds, limit, ...fields }: Record<string, unknown>): Record<string, unknown> {
	const { records = [externalIds, recordIds, limit].some((given) => given !== undefined) && [{ name: 'Acme' }] } = fields
	if (!records) return fields
	const { connectionId, ...others } = fields
	return { ...others, records }
}

/** A payment names its invoices in one way, and has their currency. */
function paysOne({ invoiceId, allocations, currency, ...fields }: Record<string, unknown>): Record<string, unknown> {
	if (allocations !== undefined) return { ...fields, allocations }
	if (invoiceId !== undefined) return { ...fields, invoiceId }
	return currency === undefined ? fields : { ...fields, currency }
}

/** Without the ends of ranges, which at random are upside down. */
const openRanges = (query: Record<string, string>): Record<string, string> =>
	Object.fromEntries(Object.entries(query).filter(([name]) => !/^(issued|due|paid|created)To$|^totalMax$/.test(name)))

/** Beyond 10,000 a list by type or kind of record goes on by its cursor only. */
const nearby = ({ offset, ...query }: Record<string, string>): Record<string, string> =>
	offset === undefined || ((query.type ?? query.resourceType) !== undefined && Number(offset) > 10_000)
		? query
		: { ...query, offset }

/** A range has its end behind its beginning. */
function findable(query: Record<string, string>): Record<string, string> {
	const { to, createdTo, valueMax, ...others } = query
	return {
		...others,
		...(to !== undefined && others.from === undefined && { to }),
		...(createdTo !== undefined && others.createdFrom === undefined && { createdTo }),
		...(valueMax !== undefined && others.valueMin === undefined && { valueMax }),
	}
}

/** Only a list itself makes its cursors; a place in the feed of events is a number. */
const givenTo =
	({ id }: Operation) =>
	({ cursor, ...query }: Record<string, string>): Record<string, string> =>
		cursor === undefined || id !== 'webhooks.events.list' ? query : { ...query, cursor }

/** Credentials and config are of the provider and authType that the sample has. */
function connects({ credentials, config, ...fields }: Record<string, unknown>): Record<string, unknown> {
	const isNew = 'authType' in fields
	if (!isNew && !credentials && !config) return fields
	const { apiKey = 'key' } = (credentials ?? {}) as ConnectionCredentials
	const given = (config ?? {}) as ConnectionConfig
	const {
		baseUrl = 'https://receiver.example',
		tokenUrl,
		scopes,
		tenantId,
		clientAuthentication,
		tokenParameters,
		...more
	} = given
	return {
		...fields,
		...(isNew && { provider: 'http_json', authType: 'api_key' }),
		credentials: { apiKey },
		...((isNew || config !== undefined) && { config: { baseUrl, ...more } }),
	}
}

/** A sync of people goes one way, and by no schedule. */
function synchronizes({ direction, schedule, reverseMappingId, ...fields }: Record<string, unknown>): Record<string, unknown> {
	return {
		...fields,
		...(direction !== undefined && { direction: 'inbound' }),
		...(schedule !== undefined && { schedule: { type: 'manual' } }),
	}
}

function requests(operation: Operation): fc.Arbitrary<Request> {
	const body = operation.body === 'none' ? fc.constant(undefined) : fitting(bodyOf(operation), overrides)
	return fc.record({
		id: fc.oneof({ weight: 9, arbitrary: fc.constant('existing') }, fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)),
		// An invoice at random has nothing of a payment.
		query: parameters(operation.id === 'payments.release' ? [] : inPlace(operation, 'query'))
			.map(nearby)
			.map(openRanges)
			.map(findable)
			.map(givenTo(operation)),
		headers: parameters(inPlace(operation, 'header')).map((headers) =>
			Object.fromEntries(Object.entries(headers).filter(([name, value]) => isHeader(value) && name !== 'If-Match')),
		),
		body: fc.oneof({ weight: 4, arbitrary: operation.body === 'none' ? body : body.map(sensible) }, body),
	})
}

/** By operation, the record that its requests are about which change nothing. */
const unchanged = new Map<string, Promise<Request['id']>>()

async function idOf(operation: Operation, { id }: Request, changes: boolean): Promise<Request['id']> {
	const { make } = sampleOf(operation)
	if (!make || id !== 'existing' || !operation.path.includes('{')) return id
	if (changes) return make(server)
	const made = unchanged.get(operation.id) ?? make(server)
	unchanged.set(operation.id, made)
	return made
}

async function send(operation: Operation, request: Request, changes = operation.method !== 'GET'): Promise<Answer> {
	const id = await idOf(operation, request, changes)
	const query = new URLSearchParams(request.query)
	const { headers } = request
	const given = withUser(operation, await withNewSync(await withNewEntries(request.body)))
	const body = changes ? await withSecrets(operation, given) : given
	return server.ask(operation.method, `${pathOf(operation, id)}?${query}`, {
		headers,
		// Encoded here, since `ask` sends a string as it is.
		...(body !== undefined && { body: JSON.stringify(body) }),
	})
}

/** Passwords, addresses and the secrets of links are those of a new person; the name is any. */
async function withSecrets(operation: Operation, body: unknown): Promise<unknown> {
	if (body === undefined || !(operation.public || operation.sessionOnly)) return body
	const { name } = body as { name?: unknown }
	return { ...(await sampleOf(operation).body?.(server)), ...(name !== undefined && { name }) }
}

/** A user of its own, unless the body names one: it may start a timer, of which a user has one. */
function withUser({ id }: Operation, body: unknown): unknown {
	const isEntry = id.startsWith('timeEntries.') && typeof body === 'object' && body !== null && !Array.isArray(body)
	return isEntry ? { userId: randomUUID(), ...body } : body
}

async function withNewSync(body: unknown): Promise<unknown> {
	const fields = (body ?? {}) as Record<string, unknown>
	if (fields.connectionId !== newOne && fields.mappingId !== newOne) return body
	const made: Record<string, string> = await peopleSync(server)
	const named = ['connectionId', 'mappingId'].filter((name) => fields[name] === newOne)
	return { ...fields, ...Object.fromEntries(named.map((name) => [name, made[name]])) }
}

async function withNewEntries(body: unknown): Promise<unknown> {
	const { dealId, timeEntryIds } = (body ?? {}) as { dealId?: unknown; timeEntryIds?: unknown }
	if (!Array.isArray(timeEntryIds) || typeof dealId !== 'string' || dealId === 'dl_unknown') return body
	const ids = timeEntryIds.map((id) => (id === newEntry ? server.newTimeEntry({ dealId }) : id))
	return { ...(body as object), timeEntryIds: await Promise.all(ids) }
}

describe.each(operations)('$id', (operation) => {
	it('answers what fits the contract as the contract says', { timeout }, async () => {
		let succeeded = 0
		await fc.assert(
			fc.asyncProperty(requests(operation), async (request) => {
				const { status, headers, body } = await send(operation, request)
				if (status === 400) throw new Error(`refused: ${JSON.stringify(body.errors ?? body)}`)
				if (status < 300) succeeded++
				// A new API key has no Location, since it is shown only once.
				const location = headers.get('location')
				if (status === 201 && location !== null) await expectStored(request.body, location)
			}),
			runs,
		)
		expect(succeeded).toBeGreaterThan(runs.numRuns / 4)
	})

	/** Expects a GET to answer the fields as they were sent, text and numbers alike. */
	async function expectStored(sent: unknown, location: string): Promise<void> {
		const { data } = (await server.ask('GET', location)).body
		for (const [field, value] of Object.entries(sent as Record<string, unknown>)) {
			if (field === 'lineItems') {
				for (const [index, line] of (value as Record<string, unknown>[]).entries()) {
					for (const name of ['description', 'unit', 'metadata', 'kind']) {
						if (line[name] !== undefined) expect(data.lineItems[index][name]).toEqual(line[name])
					}
				}
			} else if (field === 'language' && value === null) {
				// Null takes the company's or the organization's, which a sent invoice has.
				expect([null, 'en']).toContain(data[field])
			} else if (field === 'status' && value === 'sent') {
				// One whose due date is over becomes overdue at any moment.
				expect(['sent', 'overdue']).toContain(data.status)
			} else if (field === 'allocations') expect(data.allocations).toMatchObject(value as object[])
			else if (isParty(field)) {
				const { bankAccount, ...party } = (value ?? {}) as Record<string, unknown>
				if (value !== null) expect(data[field]).toMatchObject(party)
			} else if (field in data && value !== newOne && !spelledAnew.test(field) && typeof value !== 'number')
				expect(data[field]).toEqual(value)
		}
	}

	// What does not fit is refused before the database is asked.
	if (inject('database') !== 'sqlite') return

	if (operation.body !== 'none') {
		it('refuses a body with a mistake and names its place', async () => {
			const mistaken = fc.record({ request: requests(operation), mutant: mutants(bodyOf(operation)) })
			await fc.assert(
				fc.asyncProperty(mistaken, async ({ request, mutant }) => {
					const { status, body } = await send(operation, { ...request, body: mutant.value }, false)
					expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
					expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toContain(mutant.pointer)
				}),
				{ numRuns: 2 * runs.numRuns },
			)
		})
	}

	if (contractOf(operation).parameters.length > 0) {
		it('refuses a parameter with a mistake and names it', { timeout }, async () => {
			const mistakes = contractOf(operation).parameters.flatMap((parameter) =>
				badValues(parameter).map((value) => ({ ...parameter, value })),
			)
			await fc.assert(
				fc.asyncProperty(requests(operation), fc.constantFrom(...mistakes), async (request, { name, in: place, value }) => {
					const mistaken = {
						id:
							place === 'path'
								? inPlace(operation, 'path').map((other) => (other.name === name ? value : 'unknown'))
								: request.id,
						query: place === 'query' ? { ...request.query, [name]: value } : request.query,
						headers: place === 'header' ? { ...request.headers, [name]: value } : request.headers,
						body: request.body,
					}
					const { status, body } = await send(operation, mistaken, false)
					expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
					const named = body.errors.map(({ parameter }: { parameter: string }) => parameter.toLowerCase())
					expect(named).toContain(name.toLowerCase())
				}),
				runs,
			)
		})
	}
})

/** Fields that a GET answers in one spelling, whichever was sent, or that follow from others. */
const spelledAnew = /(Date|At|percent|durationSeconds|periodStart|periodEnd)$/

/** A buyer or seller is answered with all fields of one, and null with the company's or the organization's. */
const isParty = (field: string) => field === 'billTo' || field === 'billFrom'

function badValues({ schema, in: place }: ContractParameter): string[] {
	const found: string[] = []
	for (const member of members(schema)) {
		if (member.enum) found.push('nonsense', '')
		if (member.type === 'integer') {
			found.push(
				'abc',
				'',
				'1.5',
				'0x1',
				'1e1',
				' 7',
				'+7',
				'1e400',
				'null',
				String(Number(member.minimum) - 1),
				String(Number(member.maximum) + 1),
			)
		}
		if (member.maxLength !== undefined) found.push('x'.repeat(Number(member.maxLength) + 1))
		if (place !== 'header' && typeof member.pattern === 'string') found.push(...unlike(member.pattern))
		if (place === 'query' && member.format === 'text') found.push('a\0')
	}
	return found
}
