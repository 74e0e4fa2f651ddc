import { describe, expect, test } from 'vitest'
import { CREATE, type Edit, INPUT, LIMIT, LIST, STATUS, said } from './example.ts'

const inList = (...edits: Edit[]) => said(edits, [], 'GET /invoices')
const inCreate = (...edits: Edit[]) => said(edits, [], 'POST /invoices').filter((line) => !line.includes('response'))

describe('operations', () => {
	test('one that is removed breaks', () => {
		expect(said([[LIST, undefined]])).toEqual(['breaking operation-removed: operation: removed'])
	})
	test('one that is added is additive', () => {
		expect(said([['/paths/~1invoices/put', { responses: {} }]])).toEqual(['additive operation-added: operation: added'])
	})
	test('a new operationId breaks, since the SDK names its methods after it', () => {
		expect(inList([`${LIST}/operationId`, 'invoices.all'])).toEqual([
			'breaking operation-id: operation: operationId `invoices.list` → `invoices.all`',
		])
	})
	test('deprecation is additive, taking it back is documentation', () => {
		expect(inList([`${LIST}/deprecated`, true])).toEqual(['additive deprecated: operation: is deprecated now'])
		expect(said([], [[`${LIST}/deprecated`, true]])).toEqual(['docs deprecated: operation: is no longer deprecated'])
	})
	test('prose and examples are documentation, in every place they stand', () => {
		expect(
			inList([`${LIST}/description`, 'All.'], [`${LIMIT}/example`, 3], [`${LIST}/responses/200/description`, 'Fine.']),
		).toEqual([
			'docs docs: operation: description changed',
			'docs docs: query parameter `limit`: example changed',
			'docs docs: response 200: description changed',
		])
		expect(inCreate([`${INPUT}/properties/note/description`, 'Any note.'])).toEqual([
			'docs docs: request body `note`: description changed',
		])
		expect(
			said([
				['/info/description', 'About.'],
				['/tags', []],
			]),
		).toEqual(['docs docs: document: info, tags changed'])
	})
	test('extensions that the tool does not know are ignored', () => {
		expect(
			said([
				[`${CREATE}/x-rate-class`, 'read'],
				[`${INPUT}/properties/note/x-schema`, { maxLength: 3 }],
			]),
		).toEqual([])
	})
})

describe('parameters', () => {
	const added = (required: boolean): Edit => [
		`${LIST}/parameters/2`,
		{ name: 'q', in: 'query', required, schema: { type: 'string' } },
	]
	const limit = 'query parameter `limit`'
	test.each<[string, Edit, string]>([
		['one that is removed breaks', [LIMIT, undefined], `breaking parameter-removed: ${limit}: parameter removed`],
		[
			'an optional one that is added is additive',
			added(false),
			'additive parameter-added: query parameter `q`: optional parameter added',
		],
		[
			'a required one that is added breaks',
			added(true),
			'breaking parameter-added: query parameter `q`: required parameter added',
		],
		['one that becomes required breaks', [`${LIMIT}/required`, true], `breaking parameter-required: ${limit}: is required now`],
		[
			'one that becomes optional is additive',
			[`${LIST}/parameters/1/required`, false],
			'additive parameter-required: query parameter `status`: is optional now',
		],
		[
			'a narrower type breaks',
			[`${LIST}/parameters/1/schema`, { type: 'string', enum: ['draft'] }],
			'breaking enum-narrowed: query parameter `status`: values removed: `sent`',
		],
		[
			'a wider type is additive',
			[`${LIMIT}/schema/type`, 'number'],
			`additive type-widened: ${limit}: type \`integer\` → \`number\``,
		],
		['another type breaks', [`${LIMIT}/schema/type`, 'string'], `breaking type-changed: ${limit}: type \`integer\` → \`string\``],
		['a lower maximum breaks', [`${LIMIT}/schema/maximum`, 50], `breaking bound-narrowed: ${limit}: maximum \`100\` → \`50\``],
		[
			'no maximum is additive',
			[`${LIMIT}/schema/maximum`, undefined],
			`additive bound-widened: ${limit}: maximum \`100\` → none`,
		],
		['another default breaks', [`${LIMIT}/schema/default`, 10], `breaking default: ${limit}: default \`20\` → \`10\``],
		[
			'another way of writing it breaks',
			[`${LIMIT}/explode`, false],
			`breaking serialization: ${limit}: written differently: explode \`true\` → \`false\``,
		],
	])('%s', (_, edit, expected) => {
		expect(inList(edit)).toEqual([expected])
	})
	test('spelling a default of the format out changes nothing', () => {
		expect(inList([`${LIMIT}/style`, 'form'], [`${LIMIT}/required`, false])).toEqual([])
	})
	test('allowReserved is how a caller may write a value, and both ways are read alike', () => {
		const lines = [`docs docs: ${limit}: \`allowReserved\` changed`]
		expect(said([], [[`${LIMIT}/allowReserved`, true]])).toEqual(lines)
		expect(said([[`${LIMIT}/allowReserved`, true]])).toEqual(lines)
	})
	test('an empty value that is no longer allowed breaks, and one that is allowed now is additive', () => {
		expect(said([], [[`${LIMIT}/allowEmptyValue`, true]])).toEqual([
			`breaking empty-value-narrowed: ${limit}: may no longer be empty`,
		])
		expect(said([[`${LIMIT}/allowEmptyValue`, true]])).toEqual([`additive empty-value-widened: ${limit}: may be empty now`])
	})
	test('moving one from the operation to its path changes nothing', () => {
		const parameter = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } }
		expect(inList([LIMIT, undefined], ['/paths/~1invoices/parameters', [parameter]])).toEqual([])
	})
})

describe('request bodies', () => {
	const note = `${INPUT}/properties/note`
	test.each<[string, Edit, string]>([
		['one that is removed breaks', [`${CREATE}/requestBody`, undefined], `breaking body-removed: request body removed`],
		[
			'one that becomes optional is additive',
			[`${CREATE}/requestBody/required`, false],
			`additive body-required: request body is optional now`,
		],
		[
			'a required one that is added breaks',
			[`${LIST}/requestBody`, { required: true, content: {} }],
			`breaking body-added: required request body added`,
		],
		[
			'an optional one that is added is additive',
			[`${LIST}/requestBody`, { content: {} }],
			`additive body-added: optional request body added`,
		],
		[
			'a content type that is removed breaks',
			[`${CREATE}/requestBody/content/application~1json`, undefined],
			`breaking content-type-removed: content type \`application/json\` removed`,
		],
		[
			'a content type that is added is additive',
			[`${CREATE}/requestBody/content/text~1csv`, {}],
			`additive content-type-added: content type \`text/csv\` added`,
		],
		[
			'an optional property that is added is additive',
			[`${INPUT}/properties/memo`, {}],
			`additive property-added: \`memo\`: optional property added`,
		],
		[
			'a property that is removed from a sealed one breaks',
			[note, undefined],
			`breaking property-removed: \`note\`: property removed: sending it is refused`,
		],
		[
			'a property that is removed from an open one breaks too: it is ignored',
			[`${INPUT}/properties/lines/items/properties/quantity`, undefined],
			`breaking property-removed: \`lines[].quantity\`: property removed: sending it has no effect`,
		],
		[
			'a property that becomes required breaks',
			[`${INPUT}/required`, ['total', 'note']],
			`breaking required-narrowed: \`note\`: is required now`,
		],
		[
			'a property that becomes optional is additive',
			[`${INPUT}/required`, []],
			`additive required-widened: \`total\`: is optional now`,
		],
		[
			'another type breaks',
			[`${INPUT}/properties/rate/type`, 'string'],
			`breaking type-changed: \`rate\`: type \`number\` → \`string\``,
		],
		[
			'null in addition is additive',
			[`${INPUT}/properties/rate/type`, ['number', 'null']],
			`additive null-widened: \`rate\`: may be null now`,
		],
		[
			'an enum value that is removed breaks',
			[`${STATUS}/enum`, ['draft']],
			`breaking enum-narrowed: \`status\`: values removed: \`sent\``,
		],
		[
			'an enum value that is added is additive',
			[`${STATUS}/enum`, ['draft', 'sent', 'paid']],
			`additive enum-widened: \`status\`: values added: \`paid\``,
		],
		['a shorter maximum breaks', [`${note}/maxLength`, 50], `breaking bound-narrowed: \`note\`: maxLength \`100\` → \`50\``],
		['a longer maximum is additive', [`${note}/maxLength`, 200], `additive bound-widened: \`note\`: maxLength \`100\` → \`200\``],
		['a new minimum breaks', [`${note}/minLength`, 1], `breaking bound-narrowed: \`note\`: minLength none → \`1\``],
		[
			'another pattern breaks: nobody can say which allows more',
			[`${note}/pattern`, '^b'],
			`breaking pattern-changed: \`note\`: pattern \`^a\` → \`^b\``,
		],
		['no pattern is additive', [`${note}/pattern`, undefined], `additive pattern-widened: \`note\`: pattern \`^a\` → none`],
		['a format breaks', [`${note}/format`, 'email'], `breaking format-narrowed: \`note\`: format none → \`email\``],
		[
			'a format that allows all of the former is additive',
			['/components/schemas/Money/properties/amount/format', 'int64'],
			`additive format-widened: \`total.amount\`: format \`int32\` → \`int64\``,
		],
		[
			'more items are additive',
			[`${INPUT}/properties/lines/maxItems`, 20],
			`additive bound-widened: \`lines\`: maxItems \`10\` → \`20\``,
		],
		[
			'opening a sealed one is additive',
			[`${INPUT}/additionalProperties`, true],
			`additive undeclared-widened: undeclared properties: refused → anything`,
		],
		[
			'sealing an open one breaks',
			[`${INPUT}/properties/lines/items/additionalProperties`, false],
			`breaking undeclared-narrowed: \`lines[]\`: undeclared properties: anything → refused`,
		],
		[
			'a member of oneOf that is removed breaks',
			[`${INPUT}/properties/party/oneOf/1`, undefined],
			`breaking union-narrowed: \`party\`: no longer allowed: \`object\``,
		],
		[
			'a member of oneOf that is added is additive',
			[`${INPUT}/properties/party/oneOf/2`, { type: 'boolean' }],
			`additive union-widened: \`party\`: also allowed now: \`boolean\``,
		],
		[
			'a change inside a member of oneOf is told of where it is',
			[`${INPUT}/properties/party/oneOf/1/properties/name/type`, 'integer'],
			`breaking type-changed: \`party.name\`: type \`string\` → \`integer\``,
		],
		[
			'a keyword the tool cannot judge breaks',
			[`${note}/not`, { const: 'x' }],
			`breaking keyword-changed: \`note\`: \`not\` changed, treated as breaking`,
		],
		[
			'a property that becomes readOnly is gone from it',
			[`${note}/readOnly`, true],
			`breaking property-removed: \`note\`: property removed: sending it is refused`,
		],
	])('%s', (_, edit, expected) => {
		const lines = said([edit], [], edit[0].startsWith(LIST) ? 'GET /invoices' : 'POST /invoices').filter((line) =>
			line.includes(': request body'),
		)
		expect(lines).toEqual([expected.replace(': ', expected.includes(': `') ? ': request body ' : ': request body: ')])
	})
	test('a required property that is added breaks', () => {
		const edits: Edit[] = [
			[`${INPUT}/properties/memo`, {}],
			[`${INPUT}/required`, ['total', 'memo']],
		]
		expect(inCreate(...edits)).toEqual(['breaking property-added: request body `memo`: required property added'])
	})
	test('a body that becomes required breaks', () => {
		expect(said([], [[`${CREATE}/requestBody/required`, false]])).toEqual([
			'breaking body-required: request body: request body is required now',
		])
	})
	test('several members of a union that become others are treated as breaking, and it says where', () => {
		expect(inCreate([`${INPUT}/properties/party/oneOf`, [{ type: 'integer' }, { type: 'boolean' }]])).toEqual([
			'breaking union-changed: request body `party`: union changed, treated as breaking: `string`, `object` → `integer`, `boolean`',
		])
	})
})
