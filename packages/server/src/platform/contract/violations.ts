// Lists the violations of a request that the fast validator rejects, with the request validator of express-openapi-validator.
// Each operation has its own, made at its first violation. The library's middleware would make the same one, after it compiled
// OpenAPI's own schema and those of all answers, which holds the process for more than half a second.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js'
import { trimming } from './ajv.ts'
import { type ContractOperation, componentsOf, contractOperations } from './document.ts'
import { excerpt } from './excerpt.ts'
import type { Input, Violation } from './fast-validator.ts'
import { formatOptions } from './formats.ts'
import type { Operation } from './routes.ts'

/** A request as it arrived: the fast validator changes the query that it validates. */
export interface Rejected extends Input {
	/** The path and the query. */
	readonly url: string
}

interface Listing {
	readonly validator: RequestValidator
	/** A copy for the library, which changes it. */
	readonly contract: ContractOperation
}

const listings = new Map<string, Promise<Listing>>()

/**
 * The violations that the answer names, and at least one more when there are others. Empty when only the fast validator rejects
 * the request.
 */
export async function listViolations({ id, method, path }: Operation, rejected: Rejected): Promise<readonly Violation[]> {
	let listing = listings.get(id)
	if (!listing) {
		listing = newListing(structuredClone(contractOperations.get(id) as ContractOperation))
		listings.set(id, listing)
	}
	const { validator, contract } = await listing
	const { url: originalUrl, params, headers, body } = rejected
	// The library takes `limit[]` for a value of `limit`, and stops at the first name that it does not know.
	const names = new Set(contract.parameters.flatMap(({ in: place, name }) => (place === 'query' ? [name] : [])))
	const unknown = Object.keys(rejected.query).filter((name) => !names.has(name))
	const query = Object.fromEntries(Object.entries(rejected.query).filter(([name]) => names.has(name)))
	const schema = contract.requestBody?.content['application/json']?.schema
	const found = run(validator, {
		...{ method, path, originalUrl, params, query, body: schema ? excerpt(schema, body) : undefined },
		// The library compiles its schema anew for every content type that it meets.
		headers: { ...headers, 'content-type': 'application/json' },
		openapi: { expressRoute: path, openApiRoute: path, pathParams: params, schema: contract },
	})
	return [...unknown.slice(0, mostUnknown).map(unknownParameter), ...found]
}

/** Names of a query that are not the contract's: beyond these a caller learns nothing more. */
const mostUnknown = 20

const unknownParameter = (name: string): Violation => ({ path: `/query/${name}`, message: '', errorCode: 'additionalProperties' })

function run(validator: RequestValidator, request: object): readonly Violation[] {
	try {
		validator.validate(request as never, undefined as never, () => {})
		return []
	} catch (error) {
		const { errors } = error as { errors?: readonly Violation[] }
		if (!errors) throw error
		return errors
	}
}

/** Takes four turns of the event loop, so that other requests wait for none of them long. */
async function newListing(contract: ContractOperation): Promise<Listing> {
	await nextTurn()
	const { RequestValidator } = await import('express-openapi-validator/dist/middlewares/openapi.request.validator.js')
	await nextTurn()
	const components = structuredClone(componentsOf([contract.parameters, contract.requestBody]))
	const document = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {}, components }
	// What the library's middleware sets, and its `allErrors`.
	const validator = new RequestValidator(document as never, {
		...{ strict: false, strictNumbers: true, strictTuples: true, allowUnionTypes: false, validateSchema: false },
		...{ useDefaults: true, validateFormats: true, ajvFormats: { mode: 'full' }, formats: formatOptions as never },
		...{ keywords: [trimming], allErrors: true, allowUnknownQueryParameters: false, coerceTypes: false },
		// Most are used a few times: to optimize their code takes longer than they ever run.
		code: { optimize: false },
	})
	await nextTurn()
	return { validator, contract }
}
