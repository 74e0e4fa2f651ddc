import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { eventSchemas } from './event-docs.ts'
import type { JsonObject, OpenApiDocument } from './openapi.ts'

const document: OpenApiDocument = parse(readFileSync(join(import.meta.dirname, '../spec/openapi.yaml'), 'utf8'))

it('shows the changes of an event about a change: values of its record, each from another one', () => {
	const told: string[] = []
	for (const [type, { schema }] of eventSchemas(document)) {
		const [{ changes, data }] = schema.examples as [
			{ changes?: Record<string, { from: unknown; to: unknown }>; data: JsonObject },
		]
		if (!changes) continue
		told.push(type)
		expect(Object.keys(changes).length, type).toBeGreaterThan(0)
		for (const [field, { from, to }] of Object.entries(changes)) {
			expect(to, `${type} ${field}`).toEqual(data[field])
			expect(from, `${type} ${field}`).not.toEqual(to)
		}
	}
	const updates = [...eventSchemas(document).keys()].filter((type) => type.endsWith('.updated'))
	expect(told.toSorted()).toEqual([...updates, 'deal.stage_changed'].toSorted())
})

it('tells events apart by their type', () => {
	const { discriminator } = document.components.schemas.WebhookEvent as { discriminator: { mapping: Record<string, string> } }
	const names = Object.entries(discriminator.mapping).map(([type, name]) => [type, name.split('/').at(-1)])
	expect(names).toEqual([...eventSchemas(document)].map(([type, { name }]) => [type, name]))
	expect(Object.keys(document.webhooks ?? {})).toEqual(Object.keys(discriminator.mapping))
})
