import { expect, test } from 'vitest'
import { writeCalls } from './call-writer.ts'
import type { JsonObject, OpenApiDocument, Operation } from './openapi.ts'

const id = { name: 'id', in: 'path', required: true, description: 'The id.', schema: { type: 'string' } } as const
const body = { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } }

function operation(operationId: string, more: Partial<Operation> = {}): Operation {
	const responses = { 200: { description: 'Done.' } }
	return { operationId, summary: 'Do it', description: 'Do it well.', tags: [], responses, ...more }
}

/** The calls that are written for the operations of a document. */
function callsOf(paths: OpenApiDocument['paths'], example: JsonObject = {}) {
	const schemas = { Note: { type: 'object', examples: [example] } }
	const text = writeCalls({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, components: { schemas } }, 'Generated.')
	return JSON.parse(text.slice(text.indexOf('= {') + 2)) as Record<string, { sdk: string; curl: string }>
}

test('a call has the ids of the path as variables, and the example as its body', () => {
	const calls = callsOf({ '/a/{id}': { patch: operation('a.update', { parameters: [id], requestBody: body }) } }, { text: 'x' })
	expect(calls).toEqual({
		'a.update': {
			sdk: "await remit.a.update(id, { text: 'x' })",
			curl: [
				'curl -X PATCH "$REMIT_BASE_URL/a/$id"',
				'-H "Authorization: Bearer $REMIT_API_KEY"',
				"-H 'Content-Type: application/json'",
				`-d '{"text":"x"}'`,
			].join(' \\\n  '),
		},
	})
})

test('an apostrophe of an example stays one word of the shell', () => {
	const calls = callsOf({ '/a': { post: operation('a.create', { requestBody: body }) } }, { text: "Ada's" })
	expect(calls['a.create']?.curl).toContain(`-d '{"text":"Ada'\\''s"}'`)
})

test('an operation that repeats another one has the same method of the SDK', () => {
	const calls = callsOf({ '/a': { patch: operation('a.update'), put: operation('a.replace', { 'x-alias-of': 'a.update' }) } })
	expect(calls['a.replace']).toMatchObject({ sdk: 'await remit.a.update()', curl: expect.stringContaining('-X PUT') })
})

test('a public operation is called without a key, and a file is saved', () => {
	const responses = { 200: { description: 'A file.', content: { 'application/pdf': { schema: {} } } } }
	const calls = callsOf({ '/b': { get: operation('notes.pdf', { responses, security: [] }) } })
	expect(calls['notes.pdf']?.curl).toBe('curl "$REMIT_BASE_URL/b" \\\n  --output note.pdf')
})
