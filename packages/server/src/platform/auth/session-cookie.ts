// The cookie of a session: 256 random bits, of which the server stores the SHA-256.
import { hash, randomBytes } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'

/** A secret that a person holds: a session's, or that of a link. */
export const newToken = (): string => randomBytes(32).toString('base64url')

export const hashOfToken = (token: string): string => hash('sha256', token, 'base64url')

const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')

/** `__Host-` makes browsers refuse a cookie that another host, or a page over http, sets. */
const nameOf = (baseUrl: string) => (isSecure(baseUrl) ? '__Host-remit' : 'remit')

/** The token that a request sends; undefined when it sends none. */
export function sentToken(header: string | undefined, baseUrl: string): string | undefined {
	const name = nameOf(baseUrl)
	return header?.includes(`${name}=`) ? parseCookie(header)[name] : undefined
}

export const setCookie = (baseUrl: string, token: string, maxAge: number): string =>
	stringifySetCookie({
		name: nameOf(baseUrl),
		value: token,
		maxAge,
		path: '/',
		httpOnly: true,
		secure: isSecure(baseUrl),
		sameSite: 'strict',
	})

export const removeCookie = (baseUrl: string): string => setCookie(baseUrl, '', 0)
