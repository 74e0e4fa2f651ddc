// From an error of the SDK to what a person reads and can do.
import { ApiError, ConnectionError, TimeoutError } from '@remit/sdk'

export interface Trouble {
	readonly title: string
	/** What to do. */
	readonly advice: string
	readonly requestId: string | undefined
	/** Whether to try again may help. */
	readonly isRepeatable: boolean
}

const unreachable = 'Your connection or the server has a problem. Nothing is lost; try again in a moment.'

const doneBefore =
	'An earlier try was sent with other details, and its answer was lost. Close this and look whether it is there before you begin again.'

/** Somebody signed in, and the browser did not keep the session. */
export class NoCookies extends Error {}

const noCookies = 'Allow cookies for this address in the settings of the browser, then sign in again.'

export function describe(error: unknown): Trouble {
	if (error instanceof ConnectionError || error instanceof TimeoutError)
		return { title: 'Remit cannot be reached', advice: unreachable, requestId: undefined, isRepeatable: true }
	if (error instanceof NoCookies)
		return { title: 'Your browser keeps no cookies here', advice: noCookies, requestId: undefined, isRepeatable: false }
	if (!(error instanceof ApiError))
		return { title: 'This page has failed', advice: 'Load it again.', requestId: undefined, isRepeatable: true }
	const { status, code, title, detail, requestId } = error
	if (code === 'idempotency_key_reused')
		return { title: 'It may be done already', advice: doneBefore, requestId, isRepeatable: false }
	if (code === 'idempotency_key_in_use')
		return { title: 'It is being done', advice: 'Try again in a moment.', requestId, isRepeatable: true }
	if (isForbidden(error))
		return { title: 'You may not do this', advice: 'Ask an admin of the organization.', requestId, isRepeatable: false }
	if (status === 404)
		return { title: 'It is not there', advice: 'It may have been deleted, or the link is wrong.', requestId, isRepeatable: false }
	if (isRateLimited(error)) {
		const minutes = Math.ceil(Number(error.headers.get('retry-after')) / 60)
		const advice = `Wait ${minutes > 1 ? `${minutes} minutes` : 'a minute'}, then try again.`
		return { title: 'Too many requests', advice, requestId, isRepeatable: true }
	}
	if (status >= 500) return { title: 'The server has failed', advice: detail || unreachable, requestId, isRepeatable: true }
	return { title, advice: detail, requestId, isRepeatable: false }
}

/** Whether the server may have done what was sent, now or at an earlier try, though the answer is an error. */
export const mayBeDone = (error: unknown): boolean =>
	!(error instanceof ApiError) ||
	error.status >= 500 ||
	error.code === 'idempotency_key_reused' ||
	error.code === 'idempotency_key_in_use'

/** What is wrong with each field, by its name in the form: `/lineItems/0/quantity` is `lineItems.0.quantity`. */
export function fieldErrors(error: unknown): [name: string, message: string][] {
	if (!(error instanceof ApiError)) return []
	return error.errors.flatMap(({ pointer, detail }) => (pointer ? [[nameOf(pointer), sentence(detail)] as [string, string]] : []))
}

/** The name in a form of a place in a body (RFC 6901). */
export const nameOf = (pointer: string): string => pointer.slice(1).split('/').map(unescapePart).join('.')

const unescapePart = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')
const sentence = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase())

/** Whoever signs in with a wrong password gets 401 as well, and no session is over. */
export const isSessionOver = (error: unknown): boolean =>
	error instanceof ApiError && error.status === 401 && error.code !== 'sign_in_failed'

export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403

export const isRateLimited = (error: unknown): boolean => error instanceof ApiError && error.status === 429

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404

export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 412

export const hasCode = (error: unknown, code: string): boolean => error instanceof ApiError && error.code === code

export const isTransient = (error: unknown): boolean =>
	error instanceof ConnectionError || error instanceof TimeoutError || (error instanceof ApiError && error.status >= 500)

/** As the server says, else 1 and 2 seconds. */
export function retryDelay(count: number, error: unknown): number {
	const seconds = error instanceof ApiError ? Number(error.headers.get('retry-after')) : 0
	return seconds > 0 ? Math.min(seconds, 30) * 1000 : 1000 * 2 ** count
}
