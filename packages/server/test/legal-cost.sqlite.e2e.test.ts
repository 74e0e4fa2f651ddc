// What the most expensive request that an operation takes costs, for every operation of the contract but deletions. The request is
// searched for: each field, and each field of the items of a list, gets the values at the bounds of its schema, and keeps the one
// that costs most. On SQLite alone, whose queries run in the process. COSTS=1 prints the table of docs/costs.md.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTimeEntry } from '../src/billing/time-entries/store.ts'
import { type ContractOperation, contractOperations, type JsonSchema } from '../src/platform/contract/document.ts'
import { type Operation, operations } from '../src/platform/contract/routes.ts'
import { fitting, members } from './arbitrary.ts'
import { mostBytes } from './costly.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { type Cost, costOf, type RawAnswer, rawClient } from './raw-client.ts'
import { newRequest, pathOf, sampleOf } from './samples.ts'

/** No request holds the process for longer in one go, in milliseconds of CPU. */
const mostMs = 100

/** Those that do, or are near to it (docs/costs.md says why), and what they stay below. */
const exceptions: Record<string, number> = {
	'invoices.update': 200,
	'invoices.replace': 200,
}

type Fields = Record<string, unknown>

/** The largest invoice that is found, which the operations about an invoice are asked for. */
let largest: Fields = {}
let largestId = ''

let server: TestServer
let client: ReturnType<typeof rawClient>
beforeAll(async () => {
	server = await startTestServer()
	client = rawClient(server.url, server.key)
	const create = operations.find(({ id }) => id === 'invoices.create') as Operation
	largest = { ...(await search(create, {})), status: 'draft' }
	for (let count = 0; count < 5; count++) {
		largestId = JSON.parse((await client.ask('POST', '/api/invoices', JSON.stringify(largest))).text).id
	}
})
afterAll(async () => {
	client?.close()
	await server?.close()
	if (process.env.COSTS) console.log(rows.join('\n'))
})

const rows: string[] = []

const bodySchemaOf = (operation: Operation) =>
	(contractOperations.get(operation.id) as ContractOperation).requestBody?.content['application/json']?.schema

const propertiesOf = (schema: JsonSchema): [string, JsonSchema][] =>
	members(schema).flatMap(({ properties }) => Object.entries((properties ?? {}) as Record<string, JsonSchema>))

/** Values of a field at the bounds of its schema. */
function bounds(schema: JsonSchema): unknown[] {
	return members(schema).flatMap((member) => {
		if (member.type === 'array') return [listOf(member, bounds(member.items as JsonSchema)[0])]
		if (member.type === 'object') return [fullest(member)]
		if (member.type === 'string' && Number(member.maxLength) > 100 && /text|line/.test(String(member.format))) {
			return ['x'.repeat(Number(member.maxLength)), '🦊'.repeat(Number(member.maxLength) / 2)]
		}
		// Nothing costs little; and an entry without an end runs, which a user has but one of.
		return fc.sample(fitting(member), { numRuns: 2, seed: 7 }).filter((value) => value !== null)
	})
}

function fullest(member: JsonSchema): Fields {
	if (typeof member.additionalProperties !== 'object') {
		return Object.fromEntries(propertiesOf(member).map(([name, schema]) => [name, bounds(schema)[0]]))
	}
	return Object.fromEntries(Array.from({ length: Number(member.maxProperties) }, (_, at) => [`name${at}`, 'x']))
}

/** As many items as the schema and the size of a body let the list have. */
const listOf = ({ maxItems = 10 }: JsonSchema, item: unknown): unknown[] =>
	Array(Math.min(Number(maxItems), Math.floor((mostBytes - 60_000) / (JSON.stringify(item).length + 1)))).fill(item)

/** The lesser of two runs, when the operation takes the body; else 0. */
async function bodyCost(operation: Operation, id: string | readonly string[], body: Fields): Promise<number> {
	const asking = () => costOf(() => client.ask(operation.method, pathOf(operation, id), JSON.stringify(body)))
	const [first, second] = [await asking(), await asking()]
	return second.result.status < 300 ? Math.min(first.ms, second.ms) : 0
}

/** The most expensive body that the operation takes, as far as changing one field at a time leads. */
async function search(operation: Operation, start: Fields, id: string | readonly string[] = ''): Promise<Fields> {
	const climb = async (schema: JsonSchema, from: Fields, bodyOf: (fields: Fields) => Fields): Promise<Fields> => {
		await bodyCost(operation, id, bodyOf(from))
		let [found, most] = [from, await bodyCost(operation, id, bodyOf(from))]
		for (const [name, field] of propertiesOf(schema)) {
			const list = members(field).find(({ type, items }) => type === 'array' && propertiesOf(items as JsonSchema).length > 3)
			const inList = (item: Fields) => bodyOf({ ...found, [name]: listOf(list as JsonSchema, item) })
			const values = list ? [listOf(list, await climb(list.items as JsonSchema, {}, inList))] : bounds(field)
			for (const value of values) {
				const ms = await bodyCost(operation, id, bodyOf({ ...found, [name]: value }))
				if (ms > most) [found, most] = [{ ...found, [name]: value }, ms]
			}
		}
		return found
	}
	return climb(bodySchemaOf(operation) as JsonSchema, start, (body) => body)
}

/** A thousand entries of a deal, which an invoice can be made of. */
async function newTimeEntries(): Promise<Fields> {
	const dealId = await server.newDeal()
	const entry = {
		dealId,
		startedAt: server.clock.now - 3_600_000,
		durationSeconds: 3_600,
		hourlyRateCents: 10_000,
		taskName: 'x'.repeat(200),
	}
	const timeEntryIds = await server.db.transaction(async (tx) => {
		const ids: string[] = []
		for (let count = 0; count < 1_000; count++) ids.push((await createTimeEntry(server.writing(tx), entry)).id)
		return ids
	})
	return { dealId, timeEntryIds, groupBy: 'task', includeTimesheet: true }
}

/** A draft cannot be paid. */
const isAboutInvoice = ({ path }: Operation) => path.startsWith('/api/invoices/{id}') && !path.endsWith('/payment-link')

const unpaged = ['/api/invoices/{id}/emails', '/api/search']

/** A new request each time, since some can be made only once. */
async function requestOf(operation: Operation, found: Fields | undefined): Promise<() => Promise<RawAnswer>> {
	const { path: sampled, body: sample } = await newRequest(operation, server)
	const body = operation.path.startsWith('/api/invoices/from-time-entries') ? await newTimeEntries() : (found ?? sample)
	const path = isAboutInvoice(operation) ? pathOf(operation, largestId) : sampled
	const query = /\.list$/.test(operation.id) && !unpaged.includes(operation.path) ? '?limit=100' : ''
	return () => client.ask(operation.method, path + query, body && JSON.stringify(body))
}

/** The least of some runs: other programs share the machine. */
async function leastCost(operation: Operation, found: Fields | undefined): Promise<Cost & { result: RawAnswer }> {
	let least: (Cost & { result: RawAnswer }) | undefined
	for (let tries = 0; tries < 4 && !(least && tries > 1 && least.longestMs < mostMs / 2); tries++) {
		const cost = await costOf(await requestOf(operation, found))
		if (!least || cost.longestMs < least.longestMs) least = cost
	}
	return least as Cost & { result: RawAnswer }
}

/** A session's own operations take no key; those who begin one take the secret of a link, which works once. */
const measured = operations.filter(({ method, sessionOnly }) => method !== 'DELETE' && !sessionOnly)

describe.each(measured)('$id', (operation) => {
	it('holds the process for less than 100 ms in one go, whatever it is asked', async () => {
		const isSearched = operation.body !== 'none' && !operation.idempotent && !operation.public
		const id = isAboutInvoice(operation) ? largestId : isSearched ? await sampleOf(operation).make?.(server) : ''
		let found: Fields | undefined = operation.id.startsWith('invoices.') && isSearched ? largest : undefined
		if (isSearched && !found) found = await search(operation, (await newRequest(operation, server)).body as Fields, id)
		if (operation.id === 'invoices.create') found = largest
		const { result, ms, longestMs, megabytes } = await leastCost(operation, found)
		const sizes = [found ? JSON.stringify(found).length : 0, result.length].map((length) => Math.round(length / 1024))
		rows.push(
			`| ${[operation.id, ...sizes, ...[ms, longestMs, Math.max(0, megabytes)].map((cost) => cost.toFixed(0))].join(' | ')} |`,
		)
		expect(result.status, result.text.slice(0, 500)).toBeLessThan(400)
		expect(longestMs).toBeLessThan(exceptions[operation.id] ?? mostMs)
	})
})
