// TLS to PostgreSQL, as PostgreSQL's own programs take it: pg would have `require` check the server's certificate, which many are not given.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError } from '../../base/errors.ts'

/** No `allow`: neither it nor `prefer` tries twice here, and without TLS first it would be `disable`. */
const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

const files = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const

/** The URL as pg is to have it. Throws ConfigError, with the name of the setting, for a mode or a file that it cannot use. */
export function withUsualTls(setting: string, url: string): string {
	const { searchParams } = new URL(url)
	const refuse = (mistake: string) => new ConfigError(`${setting}: ${mistake}`)
	const mode = searchParams.get('sslmode')
	if (mode !== null && !modes.includes(mode)) throw refuse(`sslmode=${mode} must be one of ${modes.join(', ')}`)
	if (mode === 'verify-ca' && !searchParams.has('sslrootcert'))
		throw refuse('sslmode=verify-ca needs sslrootcert, the file with the certificate of the authority')
	const texts: Record<string, string> = {}
	for (const [name, use] of Object.entries(files)) {
		const file = searchParams.get(name)
		if (file === null) continue
		try {
			texts[use] = readFileSync(file, 'utf8')
		} catch (error) {
			throw refuse(`${name}=${file} cannot be read: ${(error as Error).message}`)
		}
		// As an authority, text that is none would be passed over.
		if (!texts[use].includes('-----BEGIN ')) throw refuse(`${name}=${file} is no PEM file`)
	}
	try {
		// By itself it would read all authorities that Node knows.
		if (Object.keys(texts).length > 0) createSecureContext(texts)
	} catch (error) {
		throw refuse(`${Object.keys(files).join(', ')}: ${(error as Error).message}`)
	}
	return mode === null || searchParams.has('uselibpqcompat') ? url : `${url}&uselibpqcompat=true`
}
