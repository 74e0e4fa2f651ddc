import { describe, expect, test } from 'vitest'
import type { Json } from './document.ts'
import { type Edit, INPUT, LIST, OUTPUT, STATUS, said } from './example.ts'

const OK = `${LIST}/responses/200`
const TOTAL = `${OK}/headers/X-Total`
const PROVIDER = '/components/schemas/Provider'
const inList = (edits: Edit[], before: Edit[] = []) =>
	said(edits, before, 'GET /invoices').filter((line) => line.includes(': response'))

describe('responses', () => {
	test.each<[string, Edit, string]>([
		[
			'a success status that is removed breaks',
			[OK, undefined],
			'breaking success-status-removed: response 200: success status removed',
		],
		[
			'a success status that is added breaks: callers get what they do not know',
			[`${LIST}/responses/202`, {}],
			'breaking success-status-added: response 202: success status added',
		],
		[
			'an error status that is removed is additive',
			[`${LIST}/responses/404`, undefined],
			'additive error-status-removed: response 404: error status removed',
		],
		[
			'an error status that is added is additive',
			[`${LIST}/responses/429`, {}],
			'additive error-status-added: response 429: error status added',
		],
		[
			'a content type that is removed breaks',
			[`${OK}/content/application~1json`, undefined],
			'breaking content-type-removed: response 200: content type `application/json` removed',
		],
		[
			'a content type that is added is additive',
			[`${OK}/content/text~1csv`, {}],
			'additive content-type-added: response 200: content type `text/csv` added',
		],
		[
			'a header that is removed breaks',
			[TOTAL, undefined],
			'breaking header-removed: response 200 header `x-total`: header removed',
		],
		[
			'a header that is added is additive',
			[`${OK}/headers/Age`, {}],
			'additive header-added: response 200 header `age`: header added',
		],
		[
			'a header that may be missing breaks',
			[`${TOTAL}/required`, false],
			'breaking header-required: response 200 header `x-total`: not always sent any more',
		],
		[
			'a header of another type breaks',
			[`${TOTAL}/schema/type`, 'string'],
			'breaking type-changed: response 200 header `x-total`: type `integer` → `string`',
		],
	])('%s', (_, edit, expected) => {
		expect(inList([edit])).toEqual([expected])
	})

	test.each<[string, Edit, string]>([
		[
			'a property that is removed breaks',
			[`${OUTPUT}/properties/note`, undefined],
			'breaking property-removed note: property removed',
		],
		[
			'a property that is added is additive, even if sealed',
			[`${OUTPUT}/properties/memo`, {}],
			'additive property-added memo: property added',
		],
		[
			'a property that becomes optional breaks',
			[`${OUTPUT}/required`, ['id']],
			'breaking required-widened status: is optional now',
		],
		[
			'a property that becomes required is additive',
			[`${OUTPUT}/required`, ['id', 'status', 'note']],
			'additive required-narrowed note: is required now',
		],
		[
			'null in addition breaks',
			[`${OUTPUT}/properties/note/type`, ['string', 'null']],
			'breaking null-widened note: may be null now',
		],
		[
			'null no more is additive',
			[`${OUTPUT}/properties/total`, { $ref: '#/components/schemas/Money' }],
			'additive null-narrowed total: may no longer be null',
		],
		[
			'an enum value that is removed is additive',
			[`${STATUS}/enum`, ['draft']],
			'additive enum-narrowed status: values removed: `sent`',
		],
		[
			'an enum value that is added breaks',
			[`${STATUS}/enum`, ['draft', 'sent', 'paid']],
			'breaking enum-widened status: values added: `paid`',
		],
		[
			'an enum value that is added to an open enum is additive',
			[`${PROVIDER}/enum`, ['stripe', 'mollie']],
			'additive enum-widened provider: values added: `mollie`',
		],
		[
			'an enum that opens breaks: it is the day the exhaustive switch ends',
			[`${STATUS}/x-open-enum`, true],
			'breaking open-enum-widened status: readers must expect unknown values now (`x-open-enum`)',
		],
		[
			'no enum any more breaks',
			[`${STATUS}/enum`, undefined],
			'breaking enum-widened status: no longer limited to `draft`, `sent`',
		],
		[
			'a lower maximum is additive',
			[`${OUTPUT}/properties/id/maxLength`, 20],
			'additive bound-narrowed id: maxLength `40` → `20`',
		],
		[
			'a higher maximum breaks: readers sized their columns by it',
			[`${OUTPUT}/properties/id/maxLength`, 80],
			'breaking bound-widened id: maxLength `40` → `80`',
		],
		['a format is additive', [`${OUTPUT}/properties/id/format`, 'uuid'], 'additive format-narrowed id: format none → `uuid`'],
		['a default is documentation', [`${OUTPUT}/properties/note/default`, ''], 'docs default note: default none → ``'],
		[
			'opening a sealed one is additive: readers skip what they do not know',
			[`${OUTPUT}/additionalProperties`, true],
			'additive undeclared-widened : undeclared properties: refused → anything',
		],
		[
			'values of a map that may be anything break',
			[`${OUTPUT}/properties/labels/additionalProperties`, true],
			'breaking undeclared-widened labels: undeclared properties: values of a schema → anything',
		],
		[
			'values of a map are compared',
			[`${OUTPUT}/properties/labels/additionalProperties/type`, 'integer'],
			'breaking type-changed labels{}: type `string` → `integer`',
		],
	])('%s', (_, edit, expected) => {
		const [, start, path, message] = /^(\S+ \S+) (\S*?): (.*)$/.exec(expected) ?? []
		expect(inList([edit])).toEqual([`${start}: response 200 \`[]${path === '' ? '' : `.${path}`}\`: ${message}`])
	})

	test('marking an enum open together with its first new value breaks: the older document did not announce new values', () => {
		const lines = inList([[STATUS, { type: 'string', enum: ['draft', 'sent', 'paid'], 'x-open-enum': true }]])
		expect(lines.map((line) => line.split(':')[0])).toEqual(['breaking open-enum-widened', 'breaking enum-widened'])
	})
})

describe('schemas', () => {
	test('one used both ways is judged both ways, once for each place', () => {
		const lines = said([['/components/schemas/Money/properties/amount/minimum', 1]])
		expect(lines).toEqual([
			'additive bound-narrowed: response 200 `[].total.amount`: minimum `0` → `1`',
			'breaking bound-narrowed: request body `total.amount`: minimum `0` → `1`',
			'additive bound-narrowed: response 201 `total.amount`: minimum `0` → `1`',
			'additive bound-narrowed: payload `total.amount`: minimum `0` → `1`',
		])
	})
	test.each<[string, Edit]>([
		[
			'a $ref written out',
			[
				`${INPUT}/properties/total`,
				{
					type: 'object',
					required: ['amount'],
					properties: { amount: { type: 'integer', format: 'int32', minimum: 0 } },
					additionalProperties: false,
				},
			],
		],
		['a $ref wrapped in allOf', [`${INPUT}/properties/total`, { allOf: [{ $ref: '#/components/schemas/Money' }] }]],
		['an enum of one as const', [PROVIDER, { const: 'stripe', 'x-open-enum': true }]],
		[
			'null as a type instead of anyOf',
			[`${OUTPUT}/properties/parent`, { oneOf: [{ type: 'null' }, { $ref: '#/components/schemas/Invoice' }] }],
		],
		[
			'members of oneOf in another order',
			[`${INPUT}/properties/party/oneOf`, [{ type: 'object', properties: { name: { type: 'string' } } }, { type: 'string' }]],
		],
		['a part moved into allOf', [STATUS, { allOf: [{ type: 'string' }, { enum: ['sent', 'draft'] }] }]],
		['sealing as `not: {}`', [`${INPUT}/additionalProperties`, { not: {} }]],
		['a lower bound that allows everything', [`${INPUT}/properties/note/minLength`, 0]],
	])('%s is no change', (_, edit) => {
		expect(said([edit])).toEqual([])
	})
	test('allOf that adds a bound is seen where it stands', () => {
		const lines = said([
			[
				`${INPUT}/properties/note`,
				{ allOf: [{ type: 'string', maxLength: 100, pattern: '^a' }, { maxLength: 9 }], description: 'A note.' },
			],
		])
		expect(lines).toEqual(['breaking bound-narrowed: request body `note`: maxLength `100` → `9`'])
	})
	test('a property may be called like a member of every object', () => {
		expect(said([[`${OUTPUT}/properties/constructor`, {}]], [], 'webhook invoice.paid')).toEqual([
			'additive property-added: payload `constructor`: property added',
		])
	})
})

describe('security', () => {
	const none: Json[] = []
	test.each<[string, Edit, string]>([
		[
			'a scope that is added breaks',
			[`${LIST}/security`, [{ key: ['invoices:read', 'all'] }]],
			'breaking security-tightened: operation: needs the scope `all` now',
		],
		[
			'a scope that is removed is additive',
			[`${LIST}/security`, [{ key: [] }]],
			'additive security-loosened: operation: no longer needs the scope `invoices:read`',
		],
		[
			'opening to anyone is additive',
			[`${LIST}/security`, none],
			'additive security-loosened: operation: needed credentials, is open to anyone now',
		],
		[
			'another scheme in addition is additive',
			[`${LIST}/security`, [{ key: ['invoices:read'] }, { cookie: [] }]],
			'additive security-loosened: operation: other credentials are accepted now',
		],
		[
			'another scheme instead breaks',
			[`${LIST}/security`, [{ cookie: [] }]],
			'breaking security-tightened: operation: other credentials are accepted now',
		],
		[
			'two schemes together break',
			[`${LIST}/security`, [{ key: ['invoices:read'], cookie: [] }]],
			'breaking security-tightened: operation: other credentials are accepted now',
		],
		[
			'another definition of the scheme breaks',
			['/components/securitySchemes/key/scheme', 'basic'],
			'breaking security-tightened: operation: other credentials are accepted now',
		],
	])('%s', (_, edit, expected) => {
		expect(said([edit], [], 'GET /invoices')).toEqual([expected])
	})
	test('an operation that was open to anyone and needs credentials breaks', () => {
		const lines = said([], [[`${LIST}/security`, none]])
		expect(lines).toEqual(['breaking security-tightened: operation: was open to anyone, needs credentials now'])
	})
	test('renaming a scheme is no change', () => {
		expect(
			said([
				['/components/securitySchemes', { token: { type: 'http', scheme: 'bearer' } }],
				['/security', [{ token: [] }]],
				[`${LIST}/security`, [{ token: ['invoices:read'] }]],
			]),
		).toEqual([])
	})
})

describe('webhooks', () => {
	test('are read by the customer, so that a property removed breaks and an event added does not', () => {
		expect(said([[`${OUTPUT}/properties/note`, undefined]], [], 'webhook invoice.paid')).toEqual([
			'breaking property-removed: payload `note`: property removed',
		])
		expect(said([['/webhooks/invoice.sent', { post: {} }]])).toEqual(['additive operation-added: operation: added'])
		expect(said([['/webhooks/invoice.paid', undefined]])).toEqual(['breaking operation-removed: operation: removed'])
	})
})
