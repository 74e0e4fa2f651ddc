import { expect, it } from 'vitest'
import { writeAliases } from './aliases.ts'
import type { OpenApiDocument, Operation } from './openapi.ts'

const operation = (id: string, more: Partial<Operation> = {}): Operation => ({
	operationId: id,
	summary: id,
	description: '',
	tags: [],
	responses: {},
	...more,
})

it('writes the PUT of a PATCH that asks for one, as its alias', () => {
	const update = operation('deals.update', {
		summary: 'Update a deal',
		'x-scopes': ['deals:write'],
		'x-also-put': 'It is quick.',
	})
	const document: OpenApiDocument = {
		openapi: '3.1.0',
		info: { title: '', version: '' },
		paths: {
			'/deals/{id}': { patch: update, delete: operation('deals.delete') },
			'/syncs/{id}': { patch: operation('syncs.update') },
		},
		components: { schemas: {} },
	}
	writeAliases(document)
	expect(Object.keys(document.paths['/deals/{id}'] ?? {})).toEqual(['patch', 'put', 'delete'])
	expect(Object.keys(document.paths['/syncs/{id}'] ?? {})).toEqual(['patch'])
	expect(document.paths['/deals/{id}']?.put).toMatchObject({
		operationId: 'deals.replace',
		summary: 'Update a deal (PUT)',
		description: 'The same as PATCH: only the fields that are present change. It is quick.',
		'x-alias-of': 'deals.update',
		'x-scopes': ['deals:write'],
	})
	expect(JSON.stringify(document)).not.toContain('x-also-put')
})
