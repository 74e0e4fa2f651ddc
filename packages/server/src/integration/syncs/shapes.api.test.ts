// Records that have anything at all where a mapping expects a value, on either side: each is written or is an error of its own, and the run goes on.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromCrm, toCrm, useCrm } from '../../../test/crm.ts'
import { secret } from '../../../test/leaks.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { counts, newSync } from '../../../test/syncs.ts'
import type { SyncRecordError } from '../../generated/contract.ts'
import { type JsonSchema, resolved, schemas } from '../../platform/contract/document.ts'

/** Each shape as JSON text: no JavaScript makes some of them. */
const shapes: Readonly<Record<string, string>> = {
	null: 'null',
	yes: 'true',
	no: 'false',
	zero: '0',
	'a decimal': '-1.5',
	'a number that is too large for an integer': '9007199254740993',
	'the largest number': '1e308',
	'an empty text': '""',
	'a text': '"Acme"',
	'a text with NUL': '"a\\u0000b"',
	'a text that is half a character': '"\\ud800"',
	'a huge text': JSON.stringify('x'.repeat(60_000)),
	'an empty list': '[]',
	'a list of texts': '["a","b"]',
	'a list of anything': '[1,null,true,"a"]',
	'a huge list': `[${'1,'.repeat(20_000)}1]`,
	'an object': '{"en":"x"}',
	'an empty object': '{}',
	'an object that JavaScript cannot turn into text': '{"toString":1,"valueOf":null,"constructor":"x","__proto__":{}}',
	'an object like a list': '{"length":3,"0":"a"}',
	'a list of objects': '[{"en":"x"},{"toString":null}]',
	'a list of lists': '[["a"],[[]]]',
	'nested objects': '{"a":{"b":[{"c":{"d":"x"}}]}}',
	'a deep list': `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
	'a deep object': `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
}
const names = Object.keys(shapes)
const noValues = names.filter((name) => /object|list of lists/.test(name) && !name.includes('deep'))

const { server, tenant, crm } = useCrm()

/** The paths of the values that callers may write of an object, of a list those of its first item. */
function targetsOf(schema: JsonSchema, path = ''): string[] {
	const { anyOf, properties, items, type } = resolved(schema)
	if (Array.isArray(anyOf)) return [...new Set((anyOf as JsonSchema[]).flatMap((one) => targetsOf(one, path)))]
	if (properties)
		return Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, one]) =>
			targetsOf(one, path === '' ? name : `${path}.${name}`),
		)
	if (items) return targetsOf(items as JsonSchema, `${path}[0]`)
	return type === 'null' || type === 'object' ? [] : [path]
}

const provider = new FakeProvider()
beforeAll(() => provider.start())
afterAll(() => provider.stop())

/** An active connection to the provider, which lists things by pages. */
async function connect(object: object = {}): Promise<string> {
	const things = { name: 'things', path: '/things', idField: 'id', pagination: { style: 'page', parameter: 'page' }, ...object }
	provider.answers([])
	const { id } = await tenant.remit.connections.create({
		...{ provider: 'http_json', name: 'Things', authType: 'api_key', credentials: { apiKey: secret('key-of-acme-0123456789') } },
		config: { baseUrl: provider.url.replace('127.0.0.1', 'api.example'), objects: [things as never] },
	})
	await tenant.remit.connections.test(id)
	return id
}

/** What a page lists: of each shape a record that has it in a field, and one that is as it should be. */
const pageOf = (field: string) =>
	`[${[...names, ''].map((name) => `{"id":"${field} ${name || 'good'}","title":"Acme"${name && `,"${field}":${shapes[name]}`}}`).join()}]`

async function errorsOf(syncId: string): Promise<Map<string, SyncRecordError>> {
	const errors = new Map<string, SyncRecordError>()
	for await (const error of tenant.remit.syncs.errors.list(syncId, { limit: 100 })) errors.set(error.externalId as string, error)
	return errors
}

const line = { description: 'Work', quantity: 1, unitPriceCents: 100 }
const here = { system: 'internal' as const }
const there = { system: 'http_json', object: 'things' }

describe.each([
	['company', 'CompanyCreate', [{ target: 'name', source: 'title' }]],
	['invoice', 'InvoiceInput', []],
] as const)('what comes in as %s', (object, schema, needed) => {
	const targets = targetsOf(schemas[schema] as JsonSchema).filter(
		(target) => !needed.some((one) => one.target === target) && !target.startsWith('billFrom.'),
	)
	const fields = targets.map((target) => ({ target, source: target.replaceAll(/\W/g, '_') }))
	const mapping = {
		...{ name: 'Things', source: there, target: { ...here, object }, status: 'active' as const },
		fields: [...needed, ...fields],
	}

	it(`has any shape in any of its ${targets.length} fields`, async () => {
		const sync = await newSync(server, tenant, await connect(), mapping)
		provider.answer = (req, res) => {
			const page = Number(new URL(req.url ?? '', provider.url).searchParams.get('page'))
			res.end(page > fields.length ? '[]' : pageOf((fields[page - 1] as { source: string }).source))
		}
		const { status, error, progress } = await sync.run()
		expect([status, error]).toEqual(['partially_succeeded', null])
		expect([progress.read, progress.created + progress.failed]).toEqual(Array(2).fill(fields.length * (names.length + 1)))
		const { id } = await tenant.remit.mappings.create(mapping)
		const { records } = await tenant.remit.mappings.preview(id, { connectionId: sync.connectionId, limit: names.length })
		const deep = records.flatMap(({ externalId, errors: [first] }) => (first?.code === 'too_deep' ? externalId : []))
		expect(deep).toEqual(names.filter((name) => name.includes('deep')).map((name) => `${fields[0]?.source} ${name}`))
		const errors = await errorsOf(sync.id)
		for (const { target, source } of fields) {
			expect(errors.has(`${source} good`)).toBe(false)
			for (const name of names) {
				const found = errors.get(`${source} ${name}`)?.errors
				const code = noValues.includes(name) ? 'type' : name.includes('deep') ? 'too_deep' : undefined
				if (code) expect([name, found]).toEqual([name, [expect.objectContaining({ code })]])
				if (code === 'type') expect(found?.[0]?.field).toBe(target)
			}
		}
	})
})

it('A record of megabytes is an error of its own, and nothing of it is stored', async () => {
	const mapping = { ...fromCrm, source: there, fields: [{ target: 'name', source: 'title', required: true }], match: null }
	const sync = await newSync(server, tenant, await connect({ pagination: { style: 'none' } }), mapping)
	const blob = 'x'.repeat(7 * 1024 * 1024)
	provider.answers([
		{ id: 1, title: 'A' },
		{ id: 2, title: 'B', blob },
		{ id: 3, title: 'C', blob: blob.slice(0, 1_000_000) },
	])
	expect(counts(await sync.run())).toEqual({ read: 3, created: 2, failed: 1 })
	expect((await errorsOf(sync.id)).get('2')?.errors).toEqual([
		{ field: '', code: 'too_large', reason: 'The record is larger than 1 MiB: blob.' },
	])
})

describe('what goes out', () => {
	it.each(['manual', 'source_wins', 'target_wins', 'newest_wins'] as const)(
		'meets any shape in the records of the provider, one way and both: %s',
		async (conflictPolicy) => {
			for (const [name, text] of Object.entries(shapes)) crm.raw.set(name, text)
			const wwwOf = (name: string) => `s${names.indexOf(name)}.example`
			const ids = new Map<string, string>()
			for (const name of names) {
				const { id } = await tenant.remit.companies.create({ name: 'Acme', phone: '1', domain: wwwOf(name) })
				ids.set(name, id)
				crm.put(wwwOf(name), { www: wwwOf(name), title: `raw ${name}`, phone: `raw ${name}` })
			}
			await tenant.remit.companies.create({ name: 'Good', domain: 'good.example' })
			const connectionId = await crm.connect(tenant)
			const outbound = await newSync(server, tenant, connectionId, toCrm, { conflictPolicy })
			const isThere = (title: string) => [...crm.firms.values()].some((firm) => firm.title === title)
			const goesOn = async (sync: typeof outbound) => {
				const { status, error } = await sync.run('full')
				expect([status, error]).toEqual([expect.stringMatching(/succeeded$/), null])
			}
			await goesOn(outbound)
			expect(isThere('Good')).toBe(true)
			// The records are linked by now, and changed on both sides.
			for (const [name, id] of ids) {
				await tenant.remit.companies.update(id, { name: 'Acme GmbH' })
				crm.put(wwwOf(name), { www: wwwOf(name), title: `raw ${name}`, phone: null })
			}
			await goesOn(outbound)
			await tenant.remit.syncs.delete(outbound.id)
			const settings = { conflictPolicy, reverse: toCrm, deletePolicy: 'delete' as const }
			const both = await newSync(server, tenant, connectionId, fromCrm, settings)
			await goesOn(both)
			for (const id of ids.values()) await tenant.remit.companies.update(id, { phone: '2' })
			await goesOn(both)
			expect(isThere('Good')).toBe(true)
		},
	)

	it('has a list of objects where the provider is to get a value, and is an error of its own', async () => {
		const sync = await newSync(server, tenant, await connect({ create: { method: 'POST', path: '/things' } }), {
			...{ name: 'Lines', source: { ...here, object: 'invoice' }, target: there, status: 'active' },
			fields: [
				{ target: 'number', source: 'invoiceNumber' },
				{ target: 'lines', source: 'lineItems' },
			],
		})
		const numbers = ['R-1', 'R-2']
		for (const invoiceNumber of numbers) await tenant.remit.invoices.create({ invoiceNumber, status: 'sent', lineItems: [line] })
		expect(counts(await sync.run())).toEqual({ read: 2, failed: 2 })
		const { data } = await tenant.remit.syncs.errors.list(sync.id)
		expect(data.map(({ errors }) => errors)).toEqual(Array(2).fill([expect.objectContaining({ field: 'lines', code: 'type' })]))
	})
})
