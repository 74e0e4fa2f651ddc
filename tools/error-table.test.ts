import { expect, it } from 'vitest'
import { errorTable } from './error-table.ts'
import type { OpenApiDocument } from './openapi.ts'

const withCodes = (sentences: Record<string, string>): OpenApiDocument => ({
	openapi: '3.1.0',
	info: { title: 'Test', version: '1' },
	paths: {},
	components: { schemas: { ErrorCode: { enum: Object.keys(sentences), 'x-enumDescriptions': sentences } } },
})

it('An error code gets its status from its sentence and its title from its name', () => {
	expect(
		errorTable(
			withCodes({
				invalid_json: '400: the body is not JSON.',
				api_key_not_found: '404: no such API key.',
				email_not_configured: '409: no e-mail.',
				unsafe_url: '422: not this URL.',
			}),
		),
	).toEqual({
		invalid_json: [400, 'Invalid JSON'],
		api_key_not_found: [404, 'API key not found'],
		email_not_configured: [409, 'E-mail not configured'],
		unsafe_url: [422, 'Unsafe URL'],
	})
})

it.each(['no status here.', '', '200: this is no error.', '404 no colon.'])(
	'An error code whose sentence has no status stops the generator: %j',
	(sentence) => {
		expect(() => errorTable(withCodes({ note_lost: sentence }))).toThrow(
			'the sentence of ErrorCode.note_lost must begin with its',
		)
	},
)
