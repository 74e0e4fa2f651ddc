// The options of a client, checked once: otherwise a mistake would show as a puzzling failure of the first call.
import { RemitError } from './errors.ts'
import type { Logger, Middleware } from './middleware.ts'
import { version } from './version.ts'

/** Options of the client. */
export interface RemitOptions {
	/** The API key: `rmt_…`. Default: the environment variable `REMIT_API_KEY`. */
	apiKey?: string
	/**
	 * In place of `apiKey`, in a page that the server itself serves: the calls are those of the person who is signed in. The browser sends
	 * the cookie of the session.
	 */
	session?: true
	/** The server's URL, such as `https://remit.example`, with any path in front of `/api`. Default: the environment variable `REMIT_BASE_URL`. */
	baseUrl?: string
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
	/** Steps around every request; the first is the outermost. */
	use?: readonly Middleware[]
	/** Gets a line for every request, such as `console`. */
	logger?: Logger
	/** Allows an API key in a page. Whoever opens the page can read the key and do all that it may. */
	dangerouslyAllowBrowser?: boolean
}

export function readSettings(options: RemitOptions) {
	const { baseUrl = environment('REMIT_BASE_URL'), timeout = 60_000, maxRetries = 2, fetch, headers, use = [], logger } = options
	return {
		baseUrl: readBaseUrl(baseUrl),
		timeout,
		maxRetries,
		use,
		logger,
		// Looked up at every call, so that a global that is replaced later (by msw or a polyfill) is used.
		fetch: fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
		headers: { Accept: 'application/json', ...userAgent(), ...authorization(options), ...headers },
	}
}

const environment = (name: string): string | undefined =>
	(globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name]

const isPage = () => 'window' in globalThis && 'document' in globalThis

/** A page must not set it: its browser would ask the server first whether it may. */
const userAgent = (): Record<string, string> => (isPage() ? {} : { 'User-Agent': `remit-sdk/${version}` })

function authorization({ apiKey, session, dangerouslyAllowBrowser }: RemitOptions): Record<string, string> {
	if (session === true) {
		if (apiKey === undefined) return {}
		throw new RemitError('apiKey and session: true exclude each other')
	}
	if (isPage() && dangerouslyAllowBrowser !== true)
		throw new RemitError(
			'whoever opens a page can read its API key: call Remit from your server, or pass dangerouslyAllowBrowser: true',
		)
	return { Authorization: `Bearer ${readApiKey(apiKey ?? environment('REMIT_API_KEY'))}` }
}

/** Its errors never contain the key, because error messages end up in logs. */
function readApiKey(apiKey: unknown): string {
	if (typeof apiKey !== 'string' || apiKey === '')
		throw new RemitError('apiKey is missing: new Remit({ apiKey: "rmt_…", … }), or REMIT_API_KEY in the environment')
	if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new RemitError('apiKey contains a blank, a line break or a non-ASCII character')
	return apiKey
}

function readBaseUrl(baseUrl: unknown): string {
	if (typeof baseUrl !== 'string' || baseUrl === '') {
		throw new RemitError('baseUrl is missing: new Remit({ baseUrl: "https://…", … }), or REMIT_BASE_URL in the environment')
	}
	const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
	if (!url || !/^https?:$/.test(url.protocol))
		throw new RemitError('baseUrl must be an http or https URL, such as https://remit.example')
	if (url.username || url.password) throw new RemitError('baseUrl must not contain a user name or password')
	if (url.search || url.hash) throw new RemitError('baseUrl must not contain a query or fragment')
	return url.origin + url.pathname.replace(/\/+$/, '')
}
