// For every operation of the document: what fits the contract is never a failure, and what does not is refused with its
// place. A failing input is printed with its seed by fast-check.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ContractOperation, type ContractParameter, contractOperations, type JsonSchema } from '../src/contract/document.ts'
import { type Operation, operations } from '../src/contract/routes.ts'
import type { LineItemInput } from '../src/generated/contract.ts'
import { fitting, members, mutants, type Overrides } from './arbitrary.ts'
import { type Answer, startTestServer, type TestServer } from './harness.ts'

/** FUZZ_RUNS=5000 looks for longer. */
const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 60) }

const mostly = (usual: fc.Arbitrary<unknown>, unusual: unknown) =>
	fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: fc.constant(unusual) })

let server: TestServer
let overrides: Overrides
beforeAll(async () => {
	server = await startTestServer()
	const company = await server.ask('POST', '/api/companies', { body: { name: 'Acme', billingEmail: 'billing@acme.example' } })
	overrides = {
		companyId: mostly(fc.constantFrom(company.body.id, null), 'cmp_unknown'),
		dealId: mostly(fc.constantFrom(await server.newDeal(), await server.newDeal({ stage: 'won' }), null), 'dl_unknown'),
	}
})
afterAll(() => server.close())

interface Request {
	readonly id: string
	readonly query: Record<string, string>
	readonly headers: Record<string, string>
	readonly body: unknown
}

const contractOf = (operation: Operation) => contractOperations.get(operation.id) as ContractOperation
const bodyOf = (operation: Operation) => contractOf(operation).requestBody?.content['application/json']?.schema as JsonSchema
const inPlace = (operation: Operation, place: string) =>
	contractOf(operation).parameters.filter((parameter) => parameter.in === place)

/** Parameters as text, each there or not. */
const parameters = (all: readonly ContractParameter[]) =>
	fc
		.record(Object.fromEntries(all.map(({ name, schema }) => [name, fitting(schema)])), { requiredKeys: [] })
		.map((values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])))

/** Headers are Latin-1 on the way, and lose white space at their ends. */
const isHeader = (value: string) => /^[!-~]([ -~]*[!-~])?$/.test(value)

/** Line items that break no business rule by themselves, and no totals: with random ones nearly every request breaks one. */
function sensible(body: unknown): unknown {
	const { lineItems, subtotalCents, taxCents, totalCents, ...rest } = body as Record<string, unknown>
	if (!Array.isArray(lineItems)) return body
	return { ...rest, lineItems: lineItems.map(({ id, kind, quantity, discountCents, taxes, ...line }: LineItemInput) => line) }
}

function requests(operation: Operation): fc.Arbitrary<Request> {
	const body = operation.body === 'none' ? fc.constant(undefined) : fitting(bodyOf(operation), overrides)
	return fc.record({
		id: fc.oneof({ weight: 5, arbitrary: fc.constant('existing') }, fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)),
		query: parameters(inPlace(operation, 'query')),
		headers: parameters(inPlace(operation, 'header')).map((headers) =>
			Object.fromEntries(Object.entries(headers).filter(([name, value]) => isHeader(value) && name !== 'If-Match')),
		),
		body: fc.oneof({ weight: 3, arbitrary: operation.body === 'none' ? body : body.map(sensible) }, body),
	})
}

const newRecord = async (operation: Operation): Promise<string> => {
	const kind = operation.path.split('/')[2]
	return (await server.ask('POST', `/api/${kind}`, { body: kind === 'companies' ? { name: 'Acme' } : {} })).body.id
}

async function send(operation: Operation, request: Request): Promise<Answer> {
	const needsId = operation.path.includes('{id}') && request.id === 'existing'
	const id = needsId ? await newRecord(operation) : encodeURIComponent(request.id)
	const query = new URLSearchParams(request.query)
	const { headers, body } = request
	return server.ask(operation.method, `${operation.path.replace('{id}', id)}?${query}`, {
		headers,
		// What JSON cannot say, such as -0, is not sent as something else.
		...(body !== undefined && { body: JSON.stringify(body) }),
	})
}

describe.each(operations)('$id', (operation) => {
	it('answers what fits the contract as the contract says', async () => {
		let succeeded = 0
		await fc.assert(
			fc.asyncProperty(requests(operation), async (request) => {
				const { status, body } = await send(operation, request)
				if (status === 400) throw new Error(`refused: ${JSON.stringify(body.errors ?? body)}`)
				if (status < 300) succeeded++
				if (status === 201) await expectStored(operation, request.body, body.id)
			}),
			runs,
		)
		expect(succeeded).toBeGreaterThan(5)
	})

	/** What was sent is what is read back, text and numbers alike. */
	async function expectStored({ path }: Operation, sent: unknown, id: string): Promise<void> {
		const { data } = (await server.ask('GET', `${path}/${id}`)).body
		for (const [field, value] of Object.entries(sent as Record<string, unknown>)) {
			if (field === 'lineItems') {
				for (const [index, line] of (value as Record<string, unknown>[]).entries()) {
					for (const name of ['description', 'unit', 'metadata', 'kind']) {
						if (line[name] !== undefined) expect(data.lineItems[index][name]).toEqual(line[name])
					}
				}
			} else if (typeof value !== 'number' && !field.endsWith('Date')) expect(data[field]).toEqual(value)
		}
	}

	if (operation.body !== 'none') {
		it('refuses a body with a mistake and names its place', async () => {
			const mistaken = fc.record({ request: requests(operation), mutant: mutants(bodyOf(operation)) })
			await fc.assert(
				fc.asyncProperty(mistaken, async ({ request, mutant }) => {
					const { status, body } = await send(operation, { ...request, body: mutant.value })
					expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
					expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toContain(mutant.pointer)
				}),
				{ numRuns: 2 * runs.numRuns },
			)
		})
	}

	if (contractOf(operation).parameters.length > 0) {
		it('refuses a parameter with a mistake and names it', async () => {
			const mistakes = contractOf(operation).parameters.flatMap((parameter) =>
				badValues(parameter).map((value) => ({ ...parameter, value })),
			)
			await fc.assert(
				fc.asyncProperty(requests(operation), fc.constantFrom(...mistakes), async (request, { name, in: place, value }) => {
					const mistaken = {
						id: place === 'path' ? value : request.id,
						query: place === 'query' ? { ...request.query, [name]: value } : request.query,
						headers: place === 'header' ? { ...request.headers, [name]: value } : request.headers,
						body: request.body,
					}
					const { status, body } = await send(operation, mistaken)
					expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
					const named = body.errors.map(({ parameter }: { parameter: string }) => parameter.toLowerCase())
					expect(named).toContain(name.toLowerCase())
				}),
				runs,
			)
		})
	}
})

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
		if (place !== 'header' && typeof member.pattern === 'string') found.push('a/b', 'a b', 'é', "' or 1=1", 'a\n')
		if (place === 'query' && member.format === 'text') found.push('a\0')
	}
	return found
}
