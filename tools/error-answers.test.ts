import { expect, it } from 'vitest'
import { codesOf, narrowErrors } from './error-answers.ts'
import type { JsonObject, OpenApiDocument, Operation, Response } from './openapi.ts'

const sentences = {
	invalid_request: '400: the request does not match the contract.',
	invalid_json: '400: the body is not JSON.',
	company_not_found: '404: no such company.',
	invoice_number_taken: '409: another invoice has this number.',
	idempotency_key_in_use: '409: a request with the same key is under way.',
}
const problem = { examples: [{ requestId: 'req_1' }] }
const schemas = { ErrorCode: { enum: Object.keys(sentences), 'x-enumDescriptions': sentences }, Problem: problem }
const error: Response = { description: 'An error.' }

function narrowed(more: Partial<Operation>, statuses: number[]): Record<string, Response> {
	return responsesIn(narrowedDocument(more, statuses).paths)
}

const responsesIn = (paths: OpenApiDocument['paths']) =>
	(paths['/a/{id}'] as { post: Operation }).post.responses as Record<string, Response>

function narrowedDocument(more: Partial<Operation>, statuses: number[]): OpenApiDocument {
	const responses = Object.fromEntries(statuses.map((status) => [status, { ...error }]))
	const operation = { operationId: 'a.b', summary: '', description: '', tags: [], responses, ...more }
	const document: OpenApiDocument = {
		openapi: '3.1.0',
		info: { title: '', version: '' },
		paths: { '/a/{id}': { post: operation } },
		components: { schemas: structuredClone(schemas) as unknown as Record<string, JsonObject> },
	}
	narrowErrors(document)
	expect(operation).not.toHaveProperty('x-error-codes')
	return document
}

it('narrows each error to the codes of the operation, and to those that follow from what it takes', () => {
	const parameters = [{ name: 'Idempotency-Key', in: 'header' as const, schema: {} }]
	const found = narrowed({ parameters, 'x-error-codes': ['company_not_found', 'invoice_number_taken'] }, [400, 404, 409])
	const codes = Object.entries(found).map(([status, response]) => [status, codesOf(response)])
	expect(Object.fromEntries(codes)).toEqual({
		400: ['invalid_request'],
		404: ['company_not_found'],
		409: ['invoice_number_taken', 'idempotency_key_in_use'],
	})
})

it('describes an error by the sentences of its codes, and shows each of them', () => {
	const { paths, components } = narrowedDocument(
		{ requestBody: { content: {} }, 'x-error-codes': ['company_not_found'] },
		[400, 404],
	)
	const { 400: invalid, 404: missing } = responsesIn(paths)
	expect(missing?.description).toBe('No such company.')
	const named = (...codes: string[]) => Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
	expect(missing?.content?.['application/problem+json']?.examples).toEqual(named('company_not_found'))
	expect(invalid?.content?.['application/problem+json']?.examples).toEqual(named('invalid_request', 'invalid_json'))
	const example = { code: 'company_not_found', status: 404, title: 'Company not found', instance: '/a/unknown' }
	expect(components.examples?.company_not_found).toMatchObject({ value: example })
})

it('rejects a code that is none, one whose status the operation does not document, and a status without a code', () => {
	expect(() => narrowed({ 'x-error-codes': ['nonsense'] }, [404])).toThrow('a.b: nonsense of @codes is no ErrorCode')
	expect(() => narrowed({ 'x-error-codes': ['company_not_found'] }, [400])).toThrow('and it does not document 404')
	expect(() => narrowed({}, [404])).toThrow('a.b: it documents 404, and its @codes have none of that status')
})
