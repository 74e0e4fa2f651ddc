import { expect, it } from 'vitest'
import { type JsonSchema, schemas, sealed } from './document.ts'
import { isValid } from './fast-validator.ts'

const example = (name: string) => (schemas[name] as { examples: [object] }).examples[0]

it('lets a client take a field that a later version adds to an answer, and rejects one that a request adds', () => {
	expect(isValid(schemas.Company as JsonSchema, { ...example('Company'), later: 1 })).toBe(true)
	expect(isValid(schemas.CompanyCreate as JsonSchema, { ...example('CompanyCreate'), later: 1 })).toBe(false)
})

it('is sealed for tests and development: no answer has a field that the contract does not name', () => {
	const Company = sealed(schemas.Company) as JsonSchema
	expect(isValid(Company, example('Company'))).toBe(true)
	expect(isValid(Company, { ...example('Company'), later: 1 })).toBe(false)
	const open = Object.entries(sealed(schemas)).filter(([, { type, properties, additionalProperties }]) => {
		return type === 'object' && properties && additionalProperties !== false
	})
	expect(open.map(([name]) => name)).toEqual([])
})
