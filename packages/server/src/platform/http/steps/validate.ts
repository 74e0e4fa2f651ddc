// Validates a request against the contract: with the fast validator, and in development with the full one too. The answer to a
// request that the fast validator rejects names every violation.
import { isUtf8 } from 'node:buffer'
import { unescape as decoded } from 'node:querystring'
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
		const garbled = garbledParameter(req.url)
		if (garbled) throw toValidationError([garbled], { query: context.query, body }, garbled)
		const violation = operation && validators.get(operation.id)?.({ params, query: context.query, headers, body })
		if (!violation) return next()
		return reject(req, operation, violation)
	}
}

/** The parameter of a query whose bytes are no UTF-8: they would be read as U+FFFD. What is no escape, such as the `%` of `100%`, is itself. */
function garbledParameter(url: string): Violation | undefined {
	if (!/%[89a-f]/i.test(url)) return undefined
	const pairs = url.slice(url.indexOf('?') + 1).split('&')
	const at = (pair: string) => `${pair}=`.indexOf('=')
	const garbled = pairs.find((pair) => !isUtf8(bytesOf(pair.slice(at(pair)))))
	if (garbled === undefined) return undefined
	const name = decoded(garbled.slice(0, at(garbled)))
	return { path: `/query/${name}`, message: 'must be percent-encoded UTF-8', errorCode: 'format' }
}

/** The URL itself has ASCII alone: node:http refuses others. */
const bytesOf = (text: string) =>
	Buffer.from(
		text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
		'latin1',
	)

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
