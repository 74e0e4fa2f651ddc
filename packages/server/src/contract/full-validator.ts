// express-openapi-validator on the emitted document. In tests and development it validates every request and every answer.
import type { RequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import { contractDocument, documentOf, relaxed, sealed } from './document.ts'
import { formatOptions } from './formats.ts'
import type { Operation } from './routes.ts'

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
