// Validates a request against the contract: first by the fast validator, and by the full one where that has an objection.
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { ApiError } from '../base/errors.ts'
import { compileAcceptors } from '../contract/fast-validator.ts'
import { operations } from '../contract/routes.ts'
import { toValidationError } from '../contract/validation-errors.ts'

export function validateFast(): RequestHandler {
	const acceptors = compileAcceptors(operations)
	return (req, _res, next) => {
		const { exchange } = req
		const accept = acceptors.get(exchange.operation?.id ?? '')
		exchange.query = req.url.includes('?') ? { ...req.query } : {}
		exchange.mistake = accept?.({ params: exchange.params, query: exchange.query, headers: req.headers, body: req.body })
		next()
	}
}

/**
 * The full validator: for what the acceptor refused, or for every request when both are to be compared. What it lets pass
 * although the acceptor refused it (it takes `limit=0x10` for an integer) is refused as the acceptor says.
 */
export function validate(always: boolean): RequestHandler {
	let chain: Promise<RequestHandler> | undefined
	return (req, res, next) => {
		const { mistake } = req.exchange
		if (!mistake && !always) return next()
		const judged = (error?: unknown) => {
			// A 500 here is about an answer that the contract does not know.
			if (error && !mistake && (error as { status?: number }).status !== 500) {
				next(new Error(`the validators disagree on ${req.method} ${req.url}`, { cause: error }))
			} else next(error ?? (mistake && { status: 400, errors: [mistake] }))
		}
		chain ??= loadFullValidator(always)
		chain.then((validator) => validator(req, res, judged)).catch(next)
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
	next(isOfRequest ? toValidationError(error.errors, req.body, req.exchange.mistake) : error)
}
