import { expect, it } from 'vitest'
import type { JsonObject, OpenApiDocument } from './openapi.ts'
import { takeRecords } from './records.ts'

/** A contract with these records, whose ErrorCode, KeyScope and ResourceKind have one hand-written member each. */
function contractWith(records: Record<string, JsonObject>): OpenApiDocument {
	const byHand = (member: string, sentence: string) => ({ enum: [member], 'x-enumDescriptions': { [member]: sentence } })
	const schemas: Record<string, JsonObject> = {
		ErrorCode: byHand('unavailable', '503: the server is shutting down.'),
		KeyScope: byHand('admin', 'Everything.'),
		ResourceKind: byHand('invoice', 'Invoices.'),
	}
	for (const [name, record] of Object.entries(records)) schemas[name] = { type: 'object', 'x-record': record }
	return { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths: {}, components: { schemas } }
}

const sentences = ({ components: { schemas } }: OpenApiDocument, list: string) => schemas[list]?.['x-enumDescriptions']

it('A record adds its error code, ordered by status, its scopes and its kind; its x-record is not published', () => {
	const document = contractWith({ SalesNote: { prefix: 'nte', scope: 'notes' } })
	expect(takeRecords(document)).toEqual([{ schema: 'SalesNote', prefix: 'nte', scope: 'notes' }])
	expect(sentences(document, 'ErrorCode')).toEqual({
		sales_note_not_found: '404: no such sales note.',
		unavailable: '503: the server is shutting down.',
	})
	expect(sentences(document, 'KeyScope')).toEqual({
		admin: 'Everything.',
		'notes:read': 'Read sales notes.',
		'notes:write': 'Write sales notes.',
	})
	expect(document.components.schemas.ErrorCode?.enum).toEqual(['sales_note_not_found', 'unavailable'])
	expect(document.components.schemas.KeyScope?.enum).toEqual(['admin', 'notes:read', 'notes:write'])
	expect(sentences(document, 'ResourceKind')).toEqual({ invoice: 'Invoices.', sales_note: 'Sales notes.' })
	expect(document.components.schemas.SalesNote).toEqual({ type: 'object' })
})

it('A hand-written member stays as it is', () => {
	const document = contractWith({ Note: { prefix: 'nte' } })
	const byHand = '404: no such note, or one that was shredded.'
	document.components.schemas.ErrorCode = { enum: ['note_not_found'], 'x-enumDescriptions': { note_not_found: byHand } }
	takeRecords(document)
	expect(sentences(document, 'ErrorCode')).toEqual({ note_not_found: byHand })
	expect(document.components.schemas.KeyScope?.enum).toEqual(['admin'])
})

it('Records can share a scope, and a single record has no not_found error', () => {
	const document = contractWith({
		Diary: { prefix: 'dia', scope: 'notes' },
		Note: { prefix: 'nte', scope: 'notes' },
		Settings: { prefix: 'set', scope: 'settings', single: true },
	})
	takeRecords(document)
	expect(sentences(document, 'KeyScope')).toMatchObject({
		'notes:read': 'Read diaries and notes.',
		'settings:write': 'Write the settings.',
	})
	expect(document.components.schemas.ErrorCode?.enum).toEqual(['diary_not_found', 'note_not_found', 'unavailable'])
})

it('Two records cannot have the same prefix', () => {
	const document = contractWith({ Note: { prefix: 'nte' }, Notice: { prefix: 'nte' } })
	expect(() => takeRecords(document)).toThrow('Notice and Note have the same prefix in x-record: nte')
})
