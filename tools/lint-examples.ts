// Checks the examples of the contract: each body and answer has one that fits its schema, each error one of each of its codes, and their
// ids belong together.
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { idPrefixes } from '../packages/server/src/generated/tables.ts'
import { absolute } from '../packages/server/src/platform/contract/ajv.ts'
import { codesOf } from './error-answers.ts'
import { exampleOf, examplesOf } from './examples.ts'
import { type Json, type MediaType, type OpenApiDocument, type Operation, operationsOf, responsesOf } from './openapi.ts'

export function lintExamples(document: OpenApiDocument, ajv: Ajv2020): string[] {
	return [
		...operationsOf(document).flatMap((operation) => lintOperation(document, operation, ajv)),
		...lintShared(document),
		...lintIds(document),
	]
}

/** Those that operations share have been checked once they have been checked in one. */
const checked = new WeakSet<MediaType>()

function lintOperation(document: OpenApiDocument, operation: Operation, ajv: Ajv2020): string[] {
	const problems = Object.entries(operation.requestBody?.content ?? {}).flatMap(([type, media]) =>
		lintMedia(document, ajv, media, `request ${type}`),
	)
	for (const [status, response] of Object.entries(responsesOf(document, operation))) {
		const codes = codesOf(response)
		for (const [type, media] of Object.entries(response.content ?? {})) {
			if (checked.has(media)) continue
			checked.add(media)
			problems.push(...lintMedia(document, ajv, media, `${status} ${type}`))
			if (codes.length > 0) problems.push(...lintCodes(document, media, codes, status))
		}
	}
	return problems.map((problem) => `${operation.operationId}: ${problem}`)
}

function lintMedia(document: OpenApiDocument, ajv: Ajv2020, media: MediaType, where: string): string[] {
	// The media type of a file describes it; an example of its bytes would say nothing.
	if (media.schema.contentMediaType) return []
	const valid = ajv.compile(absolute(media.schema))
	return examplesOf(document, media).flatMap(([name, example]) => {
		const which = name && ` ${name}`
		if (example === undefined) return [`${where} has no example${which}`]
		return valid(example) ? [] : [`${where} has an invalid example${which}: ${ajv.errorsText(valid.errors)}`]
	})
}

/** Each code has an example, with its code and status. */
function lintCodes(document: OpenApiDocument, media: MediaType, codes: readonly string[], status: string): string[] {
	const shown = new Map(examplesOf(document, media))
	return codes.flatMap((code) => {
		const { code: own, status: said } = (shown.get(code) ?? {}) as { code?: string; status?: number }
		if (own === code && said === Number(status)) return []
		return [`${status} has no example of ${code}${own === undefined ? '' : `, but one of ${said} ${own}`}`]
	})
}

function lintShared(document: OpenApiDocument): string[] {
	const text = JSON.stringify([document.paths, document.components.responses])
	const unused = Object.keys(document.components.examples ?? {}).filter(
		(name) => !text.includes(`#/components/examples/${name}"`),
	)
	return unused.map((name) => `the example ${name} is of no response`)
}

/** Every example is about the same records: an id in one is that of the record's own example. */
function lintIds(document: OpenApiDocument): string[] {
	const { schemas, responses = {}, examples = {} } = document.components
	const own = new Map(
		Object.entries(idPrefixes).map(([schema, prefix]) => {
			const { id } = (exampleOf(document, schemas[schema] ?? {}) ?? {}) as { id?: string }
			return [prefix as string, id]
		}),
	)
	const problems: string[] = []
	const look = (value: Json, place: string) => {
		if (typeof value === 'string') {
			for (const [id, prefix = ''] of value.matchAll(/\b([a-z]+)_[A-Za-z0-9]{12,}\b/g)) {
				const known = own.get(prefix)
				if (known !== undefined && id !== known) problems.push(`${place}: ${id} is in no other example, where ${known} is`)
			}
		} else if (value !== null && typeof value === 'object') {
			for (const [key, part] of Object.entries(value)) look(part as Json, `${place}/${key}`)
		}
	}
	for (const [name, schema] of Object.entries(schemas)) look((schema.examples ?? []) as Json, name)
	for (const [name, example] of Object.entries(examples)) look(example, name)
	for (const [name, { content = {} }] of Object.entries(responses)) {
		for (const { examples } of Object.values(content)) look((examples ?? {}) as unknown as Json, name)
	}
	return problems
}
