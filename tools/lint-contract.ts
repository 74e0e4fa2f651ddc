// Checks what the contract promises its readers beyond being a valid OpenAPI document, which redocly checks.
import { readFileSync } from 'node:fs'
import { join, resolve as resolvePath } from 'node:path'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { newAjv } from '../packages/server/src/platform/contract/ajv.ts'
import { exampleOf, referenced } from './examples.ts'
import { lintExamples } from './lint-examples.ts'
import {
	isSessionOnly,
	type Json,
	type JsonObject,
	type OpenApiDocument,
	type Operation,
	operationsOf,
	resolve,
	responsesOf,
} from './openapi.ts'
import { sides } from './sealing.ts'
import { scopesOf } from './security.ts'
import { rateClassesByRoot } from './server-writer.ts'

/** The problems of a document, each as `place: what is wrong`. */
export function lintContract(document: OpenApiDocument): string[] {
	// Compiling takes nearly all of the time: a schema is compiled once, not where it is named, and its code is not optimized.
	const ajv = newAjv(document.components.schemas, { allErrors: true, inlineRefs: false, code: { optimize: false } })
	const { asked } = sides(document)
	return [
		...lintRoots(document),
		...operationsOf(document).flatMap((operation) => lintOperation(document, operation)),
		...Object.keys(document.components.schemas).flatMap((name) => lintSchema(document, name, asked.has(name), ajv)),
		...lintExamples(document, ajv),
	]
}

/** A path that does not exist counts against the rate limit of the paths with its first segment, so these must share one limit. */
function lintRoots(document: OpenApiDocument): string[] {
	const mixed = [...rateClassesByRoot(document)].filter(([, classes]) => classes.size > 1)
	return mixed.map(([root, classes]) => `/${root}: its operations count against several limits: ${[...classes].join(', ')}`)
}

function lintOperation(document: OpenApiDocument, operation: Operation): string[] {
	const { operationId, summary, description, requestBody } = operation
	const responses = responsesOf(document, operation)
	const problems: string[] = []
	const names = (operation.parameters ?? []).map((parameter) => resolve(document, parameter).name)
	if (!summary || !description) problems.push('has no summary or description')
	const isPublic = operation.security?.length === 0
	if (!isPublic && !isSessionOnly(operation) && scopesOf(operation).length === 0)
		problems.push('has neither scopes nor an empty security (public), nor is it for sessions alone')
	for (const scope of scopesOf(operation)) {
		// Otherwise every key would get 403.
		if (!keyScopes(document).includes(scope)) problems.push(`requires the scope ${scope}, which is not in KeyScope`)
	}
	if (isPublic && !/needs no key/i.test(description))
		problems.push('is public, and its description does not say that it needs no key')
	for (const [status, why] of expectedErrors(operation, names, isPublic)) {
		if (!(status in responses)) problems.push(`does not document ${status}: ${why}`)
	}
	for (const parameter of operation.parameters ?? []) {
		if (!resolve(document, parameter).description)
			problems.push(`parameter ${resolve(document, parameter).name} has no description`)
	}
	for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
		for (const keyword of ['default', 'discriminator']) {
			for (const place of findKeyword(document, media.schema, keyword))
				problems.push(`request ${type} has ${keyword} at ${place}`)
		}
	}
	return problems.map((problem) => `${operationId}: ${problem}`)
}

const keyScopes = ({ components: { schemas } }: OpenApiDocument) => (schemas.KeyScope?.enum ?? []) as string[]

function expectedErrors(operation: Operation, parameters: string[], isPublic: boolean): [status: number, why: string][] {
	const expected: [number, string][] = [
		[400, 'any request can break the contract'],
		[429, 'any operation can be limited'],
		[500, 'any operation can fail'],
		[503, 'any operation can find the server without room or database'],
	]
	if (!isPublic) expected.push([401, 'it needs a key'], [403, 'it needs a scope'])
	if (parameters.includes('id')) expected.push([404, 'its path names a record'])
	if (parameters.includes('token')) expected.push([404, 'its path has a token'])
	if (parameters.includes('If-Match')) expected.push([412, 'it takes If-Match'])
	if (parameters.includes('If-None-Match')) expected.push([304, 'it takes If-None-Match'])
	if (parameters.includes('Idempotency-Key')) expected.push([409, 'it takes Idempotency-Key'], [422, 'it takes Idempotency-Key'])
	if (operation.requestBody) expected.push([413, 'it has a body'], [415, 'it has a body'])
	return expected
}

function lintSchema(document: OpenApiDocument, name: string, isAsked: boolean, ajv: Ajv2020): string[] {
	const schema = document.components.schemas[name] as JsonObject
	const problems: string[] = []
	if (!schema.description) problems.push('has no description')
	for (const [property, value] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)) {
		if (!value.description && !value.$ref) problems.push(`property ${property} has no description`)
	}
	if (schema.type === 'object' && exampleOf(document, schema) === undefined) problems.push('has no example')
	if (schema.type === 'object' && isAsked && schema.additionalProperties === undefined)
		problems.push('is of a request, and not sealed')
	if (!isAsked && schema.additionalProperties === false) problems.push('is of no request, and sealed')
	for (const example of (schema.examples ?? []) as Json[]) {
		const valid = ajv.compile({ $ref: `/contract#/components/schemas/${name}` })
		if (!valid(example)) problems.push(`example is invalid: ${ajv.errorsText(valid.errors)}`)
	}
	return problems.map((problem) => `${name}: ${problem}`)
}

/** Every place of a keyword in a schema and in the schemas that it refers to. */
function findKeyword(document: OpenApiDocument, node: Json, keyword: string, place = '', passed = new Set<string>()): string[] {
	if (node === null || typeof node !== 'object') return []
	if (Array.isArray(node)) return node.flatMap((item, index) => findKeyword(document, item, keyword, `${place}/${index}`, passed))
	const found = keyword in node && !place.endsWith('/properties') ? [place || '/'] : []
	if (typeof node.$ref === 'string' && !passed.has(node.$ref)) {
		passed.add(node.$ref)
		found.push(
			...findKeyword(document, referenced(document, node.$ref), keyword, `${place}→${node.$ref.split('/').at(-1)}`, passed),
		)
	}
	const rest = Object.entries(node).filter(([key]) => key !== 'examples')
	return [...found, ...rest.flatMap(([key, value]) => findKeyword(document, value, keyword, `${place}/${key}`, passed))]
}

if (import.meta.main) {
	const file = join(resolvePath(import.meta.dirname, '..'), 'spec/openapi.yaml')
	const problems = lintContract(parse(readFileSync(file, 'utf8')))
	for (const problem of problems) console.error(problem)
	console.log(`contract lint: ${problems.length} problems`)
	if (problems.length > 0) process.exit(1)
}
