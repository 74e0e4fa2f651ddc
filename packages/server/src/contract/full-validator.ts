// express-openapi-validator on the emitted document: it lists the violations of a request that the fast validator rejects, and
// in tests and development it validates every request and every answer.
import type { RequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import { contractDocument } from './document.ts'
import { formats } from './formats.ts'

export function fullValidator(validateResponses: boolean): RequestHandler[] {
	return middleware({
		apiSpec: contractDocument() as never,
		validateApiSpec: validateResponses,
		validateRequests: { allErrors: true, allowUnknownQueryParameters: false, coerceTypes: false },
		validateResponses: validateResponses && { coerceTypes: false, allErrors: true },
		validateSecurity: false,
		fileUploader: false,
		ajvFormats: { mode: 'full' },
		formats: Object.fromEntries(Object.entries(formats).map(([name, { type, validate }]) => [name, { type, validate }])) as never,
	})
}
