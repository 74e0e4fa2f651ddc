import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { lintContract } from './lint-contract.ts'
import type { OpenApiDocument, Operation } from './openapi.ts'

const text = readFileSync(join(import.meta.dirname, '../spec/openapi.yaml'), 'utf8')

/** The contract, with `invoices.list` changed. */
function withInvoiceList(change: Partial<Operation>): OpenApiDocument {
	const document = parse(text) as OpenApiDocument
	Object.assign(document.paths['/api/invoices']?.get ?? {}, change)
	return document
}

it('says which scope no key can have, and which operations share a rate limit that they should not', { timeout: 120_000 }, () => {
	const mistaken = withInvoiceList({ security: [{ BearerKey: ['invoice:read'] }], 'x-rate-class': 'integration' })
	// Nothing else: the rest of the contract is right.
	expect(lintContract(mistaken)).toEqual([
		'/api: its operations count against several limits: invoicing, integration',
		'invoices.list: requires the scope invoice:read, which is not in KeyScope',
	])
})
