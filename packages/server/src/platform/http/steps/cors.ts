// Lets pages of other origins call the API, where the operator names them (CORS_ORIGINS). A page there needs a key: the cookie of a session
// is not sent along, and would be rejected (same-site.ts).
import type { Request, RequestHandler } from 'express'
import { operations, Routes } from '../../contract/routes.ts'
import { send } from '../answers.ts'

/** What a page may read besides the headers that every page may. */
const exposed = [
	...['ETag', 'Location', 'Link', 'Retry-After', 'Date', 'Content-Disposition', 'WWW-Authenticate', 'Idempotent-Replayed'],
	...['X-Request-Id', 'X-Contract-Version', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Total-Count'],
].join(', ')

const sendable = [
	...['Authorization', 'X-Api-Key', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'X-Request-Id'],
	...['traceparent', 'tracestate'],
].join(', ')

/** As long as browsers keep it at most. */
const preflightSeconds = '7200'

export function allowOrigins(origins: readonly string[]): RequestHandler {
	const routes = new Routes(operations)
	return (req, res, next) => {
		const { origin } = req.headers
		if (origin === undefined || !origins.includes(origin)) return next()
		const match = routes.match(req.path)
		if (!match) return next()
		const allowed = { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' }
		if (!isPreflight(req)) {
			req.context.crossOrigin = { ...allowed, 'Access-Control-Expose-Headers': exposed }
			return next()
		}
		const headers = {
			...allowed,
			'Access-Control-Allow-Methods': [...match.methods.keys()].join(', '),
			'Access-Control-Allow-Headers': sendable,
			'Access-Control-Max-Age': preflightSeconds,
		}
		return send(req, res, { status: 204, headers })
	}
}

/** The browser asks whether it may send the request. It carries no key, so it counts for nobody. */
const isPreflight = ({ method, headers }: Request) =>
	method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
