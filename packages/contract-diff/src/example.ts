// A small contract for the tests, and functions that edit it.
import { diffContracts } from './diff.ts'
import { isObject, type Json, lookup, type Obj } from './document.ts'

const json = (schema: Json): Obj => ({ 'application/json': { schema } })
const ref = (name: string): Obj => ({ $ref: `#/components/schemas/${name}` })

const schemas: Obj = {
	Money: {
		type: 'object',
		required: ['amount'],
		properties: { amount: { type: 'integer', format: 'int32', minimum: 0 } },
		additionalProperties: false,
	},
	Status: { type: 'string', enum: ['draft', 'sent'] },
	Provider: { type: 'string', enum: ['stripe'], 'x-open-enum': true },
	Invoice: {
		type: 'object',
		required: ['id', 'status'],
		properties: {
			id: { type: 'string', maxLength: 40 },
			status: ref('Status'),
			provider: ref('Provider'),
			note: { type: 'string' },
			total: { anyOf: [ref('Money'), { type: 'null' }] },
			parent: { anyOf: [ref('Invoice'), { type: 'null' }] },
			labels: { type: 'object', additionalProperties: { type: 'string' } },
		},
		additionalProperties: false,
	},
	InvoiceCreate: {
		type: 'object',
		required: ['total'],
		properties: {
			status: ref('Status'),
			total: ref('Money'),
			note: { type: 'string', maxLength: 100, pattern: '^a', description: 'A note.' },
			rate: { type: 'number', default: 1 },
			lines: { type: 'array', maxItems: 10, items: { type: 'object', properties: { quantity: { type: 'integer' } } } },
			party: { oneOf: [{ type: 'string' }, { type: 'object', properties: { name: { type: 'string' } } }] },
		},
		additionalProperties: false,
	},
	Problem: { type: 'object', properties: { code: { type: 'string', enum: ['gone', 'taken'] } } },
}

const list: Obj = {
	operationId: 'invoices.list',
	security: [{ key: ['invoices:read'] }],
	parameters: [
		{ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
		{ name: 'status', in: 'query', required: true, schema: ref('Status') },
	],
	responses: {
		200: {
			description: 'Yes.',
			headers: { 'X-Total': { required: true, schema: { type: 'integer' } } },
			content: json({ type: 'array', items: ref('Invoice') }),
		},
		404: { description: 'No.', content: json(ref('Problem')) },
	},
}

const create: Obj = {
	operationId: 'invoices.create',
	'x-rate-class': 'write',
	requestBody: { required: true, content: json(ref('InvoiceCreate')) },
	responses: { 201: { description: 'Made.', content: json(ref('Invoice')) } },
}

const paid: Obj = { operationId: 'paid', requestBody: { required: true, content: json(ref('Invoice')) } }

export function example(version = '1.2.3'): Obj {
	const document: Obj = {
		openapi: '3.1.0',
		info: { title: 'Small', version },
		security: [{ key: [] }],
		paths: { '/invoices': { get: list, post: create } },
		webhooks: { 'invoice.paid': { post: paid } },
		components: { schemas, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
	}
	return structuredClone(document)
}

/** Puts a value at a pointer of the document; undefined removes the value there. */
export function put(document: Obj, pointer: string, value: Json | undefined): void {
	const slash = pointer.lastIndexOf('/')
	const owner = lookup(document, `#${pointer.slice(0, slash)}`).node
	const key = pointer.slice(slash + 1).replaceAll('~1', '/')
	if (Array.isArray(owner)) owner.splice(Number(key), 1, ...(value === undefined ? [] : [value]))
	else if (isObject(owner) && value !== undefined) owner[key] = value
	else if (isObject(owner)) delete owner[key]
}

export const LIST = '/paths/~1invoices/get'
export const CREATE = '/paths/~1invoices/post'
export const INPUT = '/components/schemas/InvoiceCreate'
export const OUTPUT = '/components/schemas/Invoice'
export const STATUS = '/components/schemas/Status'
export const LIMIT = `${LIST}/parameters/0`

/** The example of a version with one change. */
export function changed(version: string, pointer: string, value: Json | undefined): Obj {
	const document = example(version)
	put(document, pointer, value)
	return document
}
export const withBreak = (version: string) => changed(version, LIST, undefined)
export const withAddition = (version: string) => changed(version, `${INPUT}/properties/memo`, {})

export type Edit = [pointer: string, value: Json | undefined]

/** The findings, as lines, when the newer document has `edits` and the older one `before`; of one operation, or of all. */
export function said(edits: Edit[], before: Edit[] = [], operation?: string): string[] {
	const [base, head] = [example(), example()]
	for (const [pointer, value] of before) put(base, pointer, value)
	for (const [pointer, value] of edits) put(head, pointer, value)
	return diffContracts(base, head)
		.changes.filter((change) => operation === undefined || change.operation === operation)
		.map((change) => `${change.level} ${change.rule}: ${change.where}: ${change.message}`)
}
