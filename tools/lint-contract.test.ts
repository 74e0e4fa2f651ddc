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

it('An operation requires only scopes that a key can have', { timeout: 120_000 }, () => {
	expect(lintContract(withInvoiceList({}))).toEqual([])
	expect(lintContract(withInvoiceList({ 'x-required-scopes': ['invoice:read'] }))).toEqual([
		'invoices.list: requires the scope invoice:read, which is not in KeyScope',
	])
})

it('Operations whose paths share their first segment count against one rate limit', { timeout: 120_000 }, () => {
	expect(lintContract(withInvoiceList({ 'x-rate-class': 'integration' }))).toEqual([
		'/api: its operations count against several limits: invoicing, integration',
	])
})
