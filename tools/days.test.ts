import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { JsonObject, OpenApiDocument } from './openapi.ts'

const { components } = parse(readFileSync(new URL('../spec/openapi.yaml', import.meta.url), 'utf8')) as OpenApiDocument
const days = ['issuedDate', 'dueDate', 'paidDate', 'periodStart', 'periodEnd']

it('each date of an invoice says which values are a calendar day, and in which time zone to show it', () => {
	const fields = Object.entries(components.schemas).flatMap(([schema, { properties = {} }]) =>
		Object.entries(properties as Record<string, JsonObject>).flatMap(([name, { anyOf, description }]) =>
			days.includes(name) && anyOf ? [[schema, name, JSON.stringify(anyOf), description] as const] : [],
		),
	)
	expect(fields.length).toBeGreaterThanOrEqual(15)
	for (const [schema, name, type, description] of fields) {
		const said = type.includes('DateInput') ? /a plain date is that calendar day in every time zone/i : /calendar day.*show.*UTC/
		expect(description, `${schema}.${name}`).toMatch(said)
	}
})
