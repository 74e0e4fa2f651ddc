// Validates a request against the contract: with the fast validator, and with the full one when the fast one finds a violation.
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { ApiError } from '../../base/errors.ts'
import { compileFastValidators } from '../../contract/fast-validator.ts'
import { operations } from '../../contract/routes.ts'
import { toValidationError } from '../../contract/validation-errors.ts'

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
 * Runs the full validator on a request that the fast one rejects, or on every request when `always` is set, to compare both. A
 * request that only the fast one rejects (the full one takes `limit=0x10` for an integer) gets the fast one's violation.
 */
export function validate(always: boolean): RequestHandler {
	let chain: Promise<RequestHandler> | undefined
	return (req, res, next) => {
		const { violation } = req.context
		if (!violation && !always) return next()
		const compare = (error?: unknown) => {
			// A 500 here is about an answer that does not fit the contract.
			if (error && !violation && (error as { status?: number }).status !== 500) {
				next(new Error(`the validators disagree on ${req.method} ${req.url}`, { cause: error }))
			} else next(error ?? (violation && { status: 400, errors: [violation] }))
		}
		chain ??= loadFullValidator(always)
		chain.then((validator) => validator(req, res, compare)).catch(next)
	}
}

/** Loads the full validator at its first use: in production that is the first invalid request. Many processes save its 18 MB. */
async function loadFullValidator(validateResponses: boolean): Promise<RequestHandler> {
	const { fullValidator } = await import('../../contract/full-validator.ts')
	return express.Router().use(fullValidator(validateResponses))
}

/** Turns violations of a request into our error. An answer that does not fit the contract stays a server error. */
export const translateErrors: ErrorRequestHandler = (error, req, _res, next) => {
	const isOfRequest = !(error instanceof ApiError) && Array.isArray(error.errors) && error.status === 400
	next(isOfRequest ? toValidationError(error.errors, req.body, req.context.violation) : error)
}
