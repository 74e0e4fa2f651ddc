import { expect, it } from 'vitest'
import type { OpenApiDocument, Operation, Response } from './openapi.ts'
import { shareAnswers } from './share.ts'

const json = (model: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${model}` } } })
const operation = (operationId: string, responses: Record<string, Response>): Operation => ({
	operationId,
	summary: 'Do it',
	description: 'Do it well.',
	tags: [],
	responses: structuredClone(responses),
})

function shared(...operations: Operation[]): OpenApiDocument {
	const paths = Object.fromEntries(operations.map((each, index) => [`/${index}`, { get: each }]))
	const document: OpenApiDocument = { openapi: '3.1.0', info: { title: '', version: '' }, paths, components: { schemas: {} } }
	shareAnswers(document)
	return document
}

const etag = { description: 'The version.', schema: { type: 'string' } }
const gone: Response = { description: 'Gone.' }
const ok: Response = { description: 'Done.', content: json('Ok'), headers: { ETag: etag } }

it('gives a response that occurs twice a component, with the name of its status, or of its model and its headers', () => {
	const { paths, components } = shared(operation('a', { 200: ok, 404: gone }), operation('b', { 200: ok, 404: gone }))
	const references = { 200: { $ref: '#/components/responses/OkWithETag' }, 404: { $ref: '#/components/responses/NotFound' } }
	expect(paths['/0']?.get?.responses).toEqual(references)
	expect(paths['/1']?.get?.responses).toEqual(references)
	expect(Object.keys(components.responses ?? {})).toEqual(['OkWithETag', 'NotFound'])
})

it('leaves a response that occurs once where it is, with its headers shared', () => {
	const other = { ...ok, description: 'Done elsewhere.' }
	const { paths, components } = shared(operation('a', { 200: ok }), operation('b', { 200: other }))
	const headers = { ETag: { $ref: '#/components/headers/ETag' } }
	expect(paths['/0']?.get?.responses).toEqual({ 200: { ...ok, headers } })
	expect(components).toMatchObject({ headers: { ETag: etag } })
	expect(components.responses).toBeUndefined()
})

it('rejects two different responses that would have one name', () => {
	const lost = { description: 'Lost.' }
	expect(() =>
		shared(
			operation('a', { 404: gone }),
			operation('b', { 404: gone }),
			operation('c', { 404: lost }),
			operation('d', { 404: lost }),
		),
	).toThrow('two responses have the name NotFound')
})
