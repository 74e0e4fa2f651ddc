// URLs that callers give for later calls.
import { ApiError, fieldError } from '../base/errors.ts'
import { type Egress, UnresolvableUrl, UnsafeUrl } from '../outside/egress.ts'
import { ResolverUnavailable } from '../outside/resolver.ts'

/**
 * Checks the URL at a place of the body before it is stored; egress checks the host's addresses again for every socket that it opens.
 * Throws 422, or 503 when the host could not be looked up in time.
 */
export async function requireSafeUrl(egress: Egress, url: string, pointer: string, organizationId: string): Promise<void> {
	try {
		await egress.check(url, organizationId)
	} catch (error) {
		if (error instanceof UnsafeUrl) throw fieldError('unsafe_url', pointer, error.message)
		if (error instanceof UnresolvableUrl) throw fieldError('unresolvable_url', pointer, error.message)
		if (!(error instanceof ResolverUnavailable)) throw error
		const headers = { 'Retry-After': '5' }
		throw new ApiError('resolver_unavailable', `${error.message} The URL was not judged: try again.`, { headers })
	}
}
