// Validates a request against the contract: first by the fast validator, and by the full one where that has an objection.
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { ApiError } from '../base/errors.ts'
import { compileFastValidators } from '../contract/fast-validator.ts'
import { operations } from '../contract/routes.ts'
import { toValidationError } from '../contract/validation-errors.ts'

export function validateFast(): RequestHandler {
	const validators = compileFastValidators(operations)
	return (req, _res, next) => {
		const { context } = req
		const validate = validators.get(context.operation?.id ?? '')
		context.query = req.url.includes('?') ? { ...req.query } : {}
		context.violation = validate?.({ params: context.params, query: context.query, headers: req.headers, body: req.body })
		next()
	}
}

/**
 * Asks the full validator about a request that the fast one rejects, or about every request when both are to be compared. What
 * it lets pass although the fast one rejects it (it takes `limit=0x10` for an integer) is rejected as the fast one says.
 */
export function validate(always: boolean): RequestHandler {
	let chain: Promise<RequestHandler> | undefined
	return (req, res, next) => {
		const { violation } = req.context
		if (!violation && !always) return next()
		const conclude = (error?: unknown) => {
			// A 500 here is about an answer that the contract does not know.
			if (error && !violation && (error as { status?: number }).status !== 500) {
				next(new Error(`the validators disagree on ${req.method} ${req.url}`, { cause: error }))
			} else next(error ?? (violation && { status: 400, errors: [violation] }))
		}
		chain ??= loadFullValidator(always)
		chain.then((validator) => validator(req, res, conclude)).catch(next)
	}
}

/** Loaded when it is first needed: in production that is the first refusal, and 18 MB that many processes never need. */
async function loadFullValidator(validateResponses: boolean): Promise<RequestHandler> {
	const { fullValidator } = await import('../contract/full-validator.ts')
	return express.Router().use(fullValidator(validateResponses))
}

/** Turns what the validators say of a request into our error; an answer that is not as the contract says stays a failure. */
export const translateErrors: ErrorRequestHandler = (error, req, _res, next) => {
	const isOfRequest = !(error instanceof ApiError) && Array.isArray(error.errors) && error.status === 400
	next(isOfRequest ? toValidationError(error.errors, req.body, req.context.violation) : error)
}
