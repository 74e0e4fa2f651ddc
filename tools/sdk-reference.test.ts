import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { OpenApiDocument } from './openapi.ts'
import { writeReference } from './sdk-reference.ts'

const document = join(import.meta.dirname, '../packages/server/src/generated/openapi.json')
const text = writeReference(JSON.parse(readFileSync(document, 'utf8')) as OpenApiDocument, 'Generated.')

test('a method lists the options that not every method has', () => {
	expect(text).toContain('- **create**(body: CompanyCreate, options?: { idempotencyKey }) →')
	expect(text).toContain('- **get**(id, options?: { ifNoneMatch }) → `ApiPromise<Company>`')
	expect(text).toContain('- **update**(id, body: CompanyUpdate, options?: { ifMatch }) →')
	expect(text).toContain('- **get**(id, options?: { ifNoneMatch, expand }) →')
	expect(text).toContain('- **list**(query?, options?) → `PagePromise<Company, CompanyListMeta>`')
})

test('a change has the types of its function and of its result', () => {
	const company = 'change: (company: Company) => CompanyUpdate | undefined'
	expect(text).toContain(`- **change**(id, ${company}, options?) → \`Promise<Ok | undefined>\``)
	expect(text).toContain('- **change**(change: (organizationSettings: OrganizationSettings) =>')
})
