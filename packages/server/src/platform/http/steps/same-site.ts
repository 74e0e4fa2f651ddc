// A browser sends the cookie of a session with whatever page asks for it. `SameSite=Strict` keeps it from other sites; this keeps it
// from other origins of the same site, and from browsers that do not know the attribute.
import type { Request } from 'express'
import { ApiError } from '../../base/errors.ts'

/** Throws 403 unless the request comes from a page of the server: browsers say so in `Sec-Fetch-Site`, older ones in `Origin`. */
export function requireSameSite({ headers }: Pick<Request, 'headers'>, baseUrl: string): void {
	const { 'sec-fetch-site': site, origin } = headers
	if (site === undefined ? origin === new URL(baseUrl).origin : site === 'same-origin') return
	throw new ApiError('cross_site_request', 'A request with a session, or for one, must come from a page of the server itself.')
}

export const isChange = ({ method }: Pick<Request, 'method'>): boolean => method !== 'GET' && method !== 'HEAD'
