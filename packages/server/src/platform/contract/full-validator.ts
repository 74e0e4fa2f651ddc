// express-openapi-validator on the emitted document. In tests and development it validates every request and every answer.
import { createRequire } from 'node:module'
import type { RequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import { trimming } from './ajv.ts'
import { contractDocument, documentOf, relaxed, sealed } from './document.ts'
import { formatOptions } from './formats.ts'
import type { Operation } from './routes.ts'

// The library has no options for either: these exports are of its exact version.
const require = createRequire(import.meta.url)
const inside = (file: string) => require(`express-openapi-validator/dist/framework/${file}.js`)

/** For each operation it compiles the schema of OpenAPI documents, by which it validates none: that took 60 ms of each. */
inside('openapi.schema.validator').OpenAPISchemaValidator = class {}

/** A schema is compiled once, not wherever it is named, and its code is not optimized: compiling takes longer than all it validates. */
const factory = inside('ajv/factory')
const { factoryAjv } = factory
factory.factoryAjv = (openapi: string, options: object) =>
	factoryAjv(openapi, { ...options, keywords: [trimming], inlineRefs: false, code: { optimize: false } })

/** Validates the requests of all operations, or of the one, and finds the operation by itself. */
export const requestValidator = (operation?: Operation): RequestHandler[] =>
	validator(operation ? documentOf(operation.method, operation.path) : contractDocument(), false)

/**
 * Validates the requests and the answers of one operation. For each schema that the library compiles it walks the whole document,
 * which for all operations takes 100 ms of each.
 */
export const operationValidator = ({ method, path }: Operation): RequestHandler[] => validator(documentOf(method, path), true)

function validator(document: object, validateResponses: boolean): RequestHandler[] {
	return middleware({
		apiSpec: sealed(relaxed(document)) as never,
		validateApiSpec: false,
		validateRequests: { allErrors: true, allowUnknownQueryParameters: false, coerceTypes: false },
		validateResponses: validateResponses && { coerceTypes: false, allErrors: true },
		validateSecurity: false,
		fileUploader: false,
		ajvFormats: { mode: 'full' },
		formats: formatOptions as never,
	})
}
