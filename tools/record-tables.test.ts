import { expect, it } from 'vitest'
import type { JsonObject, OpenApiDocument } from './openapi.ts'
import { blanks, recordFields } from './record-tables.ts'

const text = { type: 'string' }
const nullable = (schema: JsonObject) => ({ anyOf: [schema, { type: 'null' }] })
const object = (properties: JsonObject, required = Object.keys(properties)) => ({ type: 'object', properties, required })

const document: OpenApiDocument = {
	openapi: '3.1.0',
	info: { title: 'Test', version: '1' },
	paths: {},
	components: {
		schemas: {
			Cents: { type: 'integer' },
			Note: object({
				id: text,
				organizationId: text,
				words: nullable(text),
				cents: nullable({ $ref: '#/components/schemas/Cents' }),
				state: { type: 'string', enum: ['open', 'done'] },
				kind: { anyOf: [{ type: 'string', enum: ['known'] }, text] },
			}),
			Page: object({ id: text, number: { type: 'integer' }, colour: nullable(text) }),
			PageInput: object({ id: text, colour: nullable(text) }, []),
			Author: object({ id: nullable(text) }),
		},
	},
}

it('A schema that always has an id and an organization is a record, with the fields of the schema', () => {
	const texts = { id: 'string', organizationId: 'string', words: 'string', kind: 'string' }
	expect(recordFields(document)).toEqual({ Note: { ...texts, cents: 'integer', state: 'word' } })
})

it('A schema that always has an id gets a blank with every field that may be null', () => {
	expect(blanks(document)).toEqual({ Note: { words: null, cents: null }, Page: { colour: null } })
})
