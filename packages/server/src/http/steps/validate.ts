// Validates a request against the contract: with the fast validator, and in development with the full one too. The answer to a
// request that the fast validator rejects names every violation.
import express, { type Request, type RequestHandler } from 'express'
import { compileFastValidators, type Violation } from '../../contract/fast-validator.ts'
import { type Operation, operations } from '../../contract/routes.ts'
import { toValidationError } from '../../contract/validation-errors.ts'

export function validateFast(): RequestHandler {
	const validators = compileFastValidators(operations)
	return (req, _res, next) => {
		const { context, headers, body } = req
		const { operation, params } = context
		context.query = req.url.includes('?') ? { ...req.query } : {}
		const violation = operation && validators.get(operation.id)?.({ params, query: context.query, headers, body })
		if (!violation) return next()
		return reject(req, operation, violation)
	}
}

/** A request that only the fast validator rejects (the library takes `limit=0x10` for an integer) has the fast one's violation. */
async function reject({ context, originalUrl: url, query, headers, body }: Request, operation: Operation, first: Violation) {
	// Most processes never need it: it costs 12 ms and 5 MB.
	const { listViolations } = await import('../../contract/violations.ts')
	const found = await listViolations(operation, { url, params: context.params, query, headers, body })
	throw toValidationError(found.length > 0 ? found : [first], { query, body }, first)
}

/** Validates with the full validator what the fast one passed, and then the answer: it is a server error when they disagree. */
export function validateFully(): RequestHandler {
	const validators = new Map<string, Promise<RequestHandler>>()
	const load = async (operation: Operation) => {
		const { operationValidator } = await import('../../contract/full-validator.ts')
		return express.Router().use(operationValidator(operation))
	}
	return (req, res, next) => {
		const { operation } = req.context
		if (!operation) return next()
		const compare = (error?: unknown) => {
			// A 500 here is about an answer that does not fit the contract.
			if (!error || (error as { status?: number }).status === 500) return next(error)
			next(new Error(`the validators disagree on ${req.method} ${req.url}`, { cause: error }))
		}
		const loading = validators.get(operation.id) ?? load(operation)
		validators.set(operation.id, loading)
		loading.then((validator) => validator(req, res, compare)).catch(next)
	}
}
