// Finds the operation of a request. All later steps use this result (see platform/contract/routes.ts).
import type { Request, RequestHandler } from 'express'
import { methodNotAllowed } from '../../base/errors.ts'
import { isIntegrationPath, operations, Routes } from '../../contract/routes.ts'
import type { Count } from './authenticate.ts'

/** `nonContractRoutes` answers, and counts, the paths that the contract does not have. */
export function findOperation(nonContractRoutes: RequestHandler, count: Count): RequestHandler {
	const routes = new Routes(operations)
	return (req, res, next) => {
		const match = routes.match(req.path)
		// HEAD is GET without a body: node:http leaves the body out by itself.
		if (match && req.method === 'HEAD') req.method = 'GET'
		const operation = match?.methods.get(req.method)
		if (match && operation) {
			req.context.operation = operation
			req.context.params = match.params
			return next()
		}
		const reject = () => {
			if (match) rejectMethod(req, [...match.methods.keys()])
			return nonContractRoutes(req, res, next)
		}
		const isIntegration = isIntegrationPath(req.path)
		if (!isIntegration && !match) return reject()
		count(req, isIntegration ? 'integration' : 'invoicing')
			.then(reject)
			.catch(next)
	}
}

export function rejectMethod({ path, method }: Request, methods: readonly string[]): never {
	throw methodNotAllowed(path, method, methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', '))
}
