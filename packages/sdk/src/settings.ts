// The options of a client, checked once: otherwise a mistake would show as a puzzling failure of the first call.
import { RemitError } from './errors.ts'

/** Options of the client. */
export interface RemitOptions {
	/** The API key: `rmt_…`. */
	apiKey?: string
	/**
	 * In place of `apiKey`, in a page that the server itself serves: the calls are those of the person who is signed in. The browser sends
	 * the cookie of the session.
	 */
	session?: true
	/** The server's URL, such as `https://remit.example`, with any path in front of `/api`. */
	baseUrl: string
	/** Milliseconds until a call fails with a `TimeoutError`; `Infinity` for no limit. Default 60 000. */
	timeout?: number
	/**
	 * How often a call is made again after a lost connection or a passing error of the server (408, 429, 502, 503, 504). Only calls that have
	 * their effect once however often they are sent: reads, changes, and what takes an `idempotencyKey`, which is made when there is none.
	 * The pauses count for `timeout`. Default 2; 0 for none.
	 */
	maxRetries?: number
	/** Used in place of the global `fetch`. */
	fetch?: (url: string, init: RequestInit) => Promise<Response>
	/** Headers to send with every request. */
	headers?: Record<string, string>
}

export function readSettings({ apiKey, session, baseUrl, timeout = 60_000, maxRetries = 2, fetch, headers }: RemitOptions) {
	return {
		baseUrl: readBaseUrl(baseUrl),
		timeout,
		maxRetries,
		// Looked up at every call, so that a global that is replaced later (by msw or a polyfill) is used.
		fetch: fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
		headers: { Accept: 'application/json', ...authorization(apiKey, session), ...headers },
	}
}

function authorization(apiKey: unknown, session: unknown): Record<string, string> {
	if (session !== true) return { Authorization: `Bearer ${readApiKey(apiKey)}` }
	if (apiKey === undefined) return {}
	throw new RemitError('apiKey and session: true exclude each other')
}

/** Its errors never contain the key, because error messages end up in logs. */
function readApiKey(apiKey: unknown): string {
	if (typeof apiKey !== 'string' || apiKey === '') throw new RemitError('apiKey is missing: new Remit({ apiKey: "rmt_…", … })')
	if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new RemitError('apiKey contains a blank, a line break or a non-ASCII character')
	return apiKey
}

function readBaseUrl(baseUrl: unknown): string {
	if (typeof baseUrl !== 'string' || baseUrl === '') {
		throw new RemitError('baseUrl is missing: new Remit({ baseUrl: "https://…", … })')
	}
	const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
	if (!url || !/^https?:$/.test(url.protocol))
		throw new RemitError('baseUrl must be an http or https URL, such as https://remit.example')
	if (url.username || url.password) throw new RemitError('baseUrl must not contain a user name or password')
	if (url.search || url.hash) throw new RemitError('baseUrl must not contain a query or fragment')
	return url.origin + url.pathname.replace(/\/+$/, '')
}
