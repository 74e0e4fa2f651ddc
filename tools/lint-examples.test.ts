import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { newAjv } from '../packages/server/src/platform/contract/ajv.ts'
import { lintExamples } from './lint-examples.ts'
import type { JsonObject, OpenApiDocument } from './openapi.ts'

const text = readFileSync(join(import.meta.dirname, '../spec/openapi.yaml'), 'utf8')

it('names the body that does not fit, the code without its own example, the example of nothing and the id of no record', () => {
	const document: OpenApiDocument = parse(text)
	const { schemas, examples } = document.components as {
		schemas: Record<string, JsonObject>
		examples: Record<string, JsonObject>
	}
	const create = document.paths['/api/companies']?.post
	const shown = JSON.stringify([create, document.components.responses])
	for (const name of Object.keys(examples)) if (!shown.includes(`/examples/${name}"`)) delete examples[name]
	document.paths = { '/api/companies': { post: create as NonNullable<typeof create> } }
	Object.assign(schemas.CompanyCreate as JsonObject, { examples: [{ name: 1 }] })
	Object.assign(schemas.ContactCreate as JsonObject, { examples: [{ companyId: 'cmp_0000000000000000' }] })
	examples.payload_too_large = examples.invalid_json as JsonObject
	examples.nonsense = { value: null }
	expect(lintExamples(document, newAjv(schemas, { inlineRefs: false, code: { optimize: false } }))).toEqual([
		'companies.create: request application/json has an invalid example: data/name must be string',
		'companies.create: 413 application/problem+json has an invalid example payload_too_large: data/code must be equal to one of the allowed values',
		'companies.create: 413 has no example of payload_too_large, but one of 400 invalid_json',
		'the example nonsense is of no response',
		expect.stringMatching(/^ContactCreate\/0\/companyId: cmp_0000000000000000 is in no other example/),
	])
})
