// Calls to a fake vendor as a client makes them.
import type { Vendor } from './vendor.ts'

export interface Called {
	readonly status: number
	readonly headers: Headers
	// biome-ignore lint/suspicious/noExplicitAny: the answers of many endpoints, in a test.
	readonly json: any
}

export interface CallOptions {
	readonly token?: string | null
	readonly headers?: Readonly<Record<string, string>>
	/** Sent as a form when it is URLSearchParams, else as JSON. */
	readonly body?: unknown
}

export const caller =
	(vendor: Vendor, always: Readonly<Record<string, string>> = {}) =>
	async (method: string, path: string, { token = vendor.token, headers, body }: CallOptions = {}): Promise<Called> => {
		const isForm = body instanceof URLSearchParams
		const answer = await fetch(vendor.url + path, {
			method,
			headers: {
				...(token !== null && { authorization: `Bearer ${token}` }),
				...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
				...always,
				...headers,
			},
			body: isForm || body === undefined ? body : JSON.stringify(body),
		})
		const text = await answer.text()
		if (answer.status === 599) throw new Error(text)
		return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) }
	}

export const refreshForm = (vendor: Vendor, refreshToken: string): URLSearchParams =>
	new URLSearchParams({
		grant_type: 'refresh_token',
		refresh_token: refreshToken,
		client_id: vendor.tokens.client.id,
		client_secret: vendor.tokens.client.secret,
	})
