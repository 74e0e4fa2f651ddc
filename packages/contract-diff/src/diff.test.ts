import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffContracts } from './diff.ts'
import { isObject, type Json, type Obj } from './document.ts'
import { CREATE, changed, example, INPUT, LIST, put, withAddition, withBreak } from './example.ts'
import { markdown } from './report.ts'

describe('the verdict', () => {
	test('identical documents have no difference', () => {
		expect(diffContracts(example(), example())).toMatchObject({ verdict: 'none', bump: 'none', changes: [] })
	})
	test('a change of prose needs no bump, an addition a minor version, a breaking change a major one', () => {
		expect(diffContracts(example(), changed('1.2.3', '/info/title', 'Big'))).toMatchObject({ verdict: 'none', bump: 'none' })
		expect(diffContracts(example(), withAddition('1.2.3'))).toMatchObject({ verdict: 'additive', bump: 'minor' })
		expect(diffContracts(example(), withBreak('1.2.3'))).toMatchObject({ verdict: 'breaking', bump: 'major' })
	})
	test('before 1.0.0 an addition needs a patch, a breaking change a minor version', () => {
		expect(diffContracts(example('0.3.0'), withAddition('0.3.0'))).toMatchObject({ bump: 'patch' })
		expect(diffContracts(example('0.3.0'), withBreak('0.3.0'))).toMatchObject({ bump: 'minor' })
	})
	test('each change names its operation, and its pointer in the document that has it', () => {
		const { changes } = diffContracts(example(), changed('1.2.3', `${INPUT}/properties/note/maxLength`, 5))
		expect(changes).toEqual([
			{
				level: 'breaking',
				rule: 'bound-narrowed',
				direction: 'request',
				operation: 'POST /invoices',
				operationId: 'invoices.create',
				where: 'request body `note`',
				pointer: '#/components/schemas/InvoiceCreate/properties/note/maxLength',
				message: 'maxLength `100` → `5`',
			},
		])
	})
})

describe('the differences in Markdown', () => {
	test('groups by operation and puts breaking changes first', () => {
		const head = changed('1.3.0', `${INPUT}/properties/memo`, {})
		put(head, `${CREATE}/operationId`, 'invoices.make')
		put(head, `${LIST}/summary`, 'All of them')
		expect(markdown(diffContracts(example(), head))).toBe(`# Contract changes: 1.2.3 → 1.3.0

**Breaking**: 1 breaking, 1 additive, 1 of documentation only. Version bump: major, to 2.0.0 at least.

## \`GET /invoices\` (invoices.list)

- **docs** operation: summary changed (docs, \`#/paths/~1invoices/get\`)

## \`POST /invoices\` (invoices.make)

- **breaking** operation: operationId \`invoices.create\` → \`invoices.make\` (operation-id, \`#/paths/~1invoices/post\`)
- **additive** request body \`memo\`: optional property added (property-added, \`#/components/schemas/InvoiceCreate/properties/memo\`)
`)
	})
	test('lists a change of a component that many operations share once, with their names', () => {
		const [base, head] = [example(), example()]
		for (const document of [base, head]) {
			for (const name of ['a', 'b', 'c'])
				put(document, `/webhooks/${name}`, {
					post: { operationId: name, requestBody: { content: { 'a/b': { schema: { $ref: '#/components/schemas/Invoice' } } } } },
				})
		}
		put(head, '/components/schemas/Invoice/properties/memo', {})
		const written = markdown(diffContracts(base, head))
		expect(written.match(/memo/g)).toHaveLength(2)
		expect(written).toContain('## Shared schemas')
		expect(written).toContain('In 6 operations: `invoices.list`, `invoices.create`, `paid`, `a`, `b`, `c`')
	})
})

describe('any document', () => {
	const name = fc.constantFrom('A', 'B', 'C', 'constructor')
	const link = name.map((each): Obj => ({ $ref: `#/components/schemas/${each}` }))
	const plain = fc.record<Obj>(
		{
			type: fc.constantFrom<Json>('string', 'integer', ['number', 'null'], 'object', 'array'),
			enum: fc.array(fc.constantFrom<Json>('x', 1, null, true), { minLength: 1 }),
			maxLength: fc.nat(9),
			pattern: fc.constantFrom('^a', '`'),
			description: fc.string(),
			default: fc.constantFrom<Json>(null, 'x'),
			'x-open-enum': fc.boolean(),
			readOnly: fc.boolean(),
		},
		{ requiredKeys: [] },
	)
	const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
		schema: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			plain,
			link,
			fc.boolean(),
			fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
			fc.record({ allOf: fc.array(tie('schema'), { maxLength: 2 }), properties: fc.dictionary(name, tie('schema')) }),
			fc.record({
				type: fc.constant('object'),
				properties: fc.dictionary(name, tie('schema')),
				required: fc.array(name),
				additionalProperties: tie('schema'),
			}),
			fc.record({ $ref: link.map((each) => each.$ref ?? null), items: tie('schema'), not: tie('schema') }),
		),
	}))
	const component = schema.map((inner): Json => ({ type: ['object', 'string'], properties: { inner }, oneOf: [inner] }))
	const document = fc
		.record({ A: component, B: component, C: component, constructor: component, body: schema })
		.map(({ body, ...schemas }): Obj => {
			const content = { 'application/json': { schema: body } }
			return {
				openapi: '3.1.0',
				info: { version: '1.0.0' },
				paths: { '/x': { post: { requestBody: { content }, responses: { 200: { content } } } } },
				components: { schemas },
			}
		})
	const turned = (value: Json): Json =>
		Array.isArray(value)
			? value.map(turned)
			: isObject(value)
				? Object.fromEntries(
						Object.entries(value)
							.reverse()
							.map(([key, inner]) => [key, turned(inner)]),
					)
				: value

	test('does not differ from itself, nor from itself with its keys in another order', () => {
		fc.assert(
			fc.property(document, (each) => {
				expect(diffContracts(each, structuredClone(each)).changes).toEqual([])
				const other = turned(each)
				expect(isObject(other) && diffContracts(each, other).changes).toEqual([])
			}),
			{ numRuns: 150 },
		)
	})
	test('differs from another one as that one differs from it', () => {
		fc.assert(
			fc.property(document, document, (one, other) => {
				const [there, back] = [diffContracts(one, other), diffContracts(other, one)]
				expect(there.changes.length === 0).toBe(back.changes.length === 0)
			}),
			{ numRuns: 150 },
		)
	})
})
