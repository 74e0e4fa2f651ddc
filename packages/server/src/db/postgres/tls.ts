// TLS to PostgreSQL, as PostgreSQL's own programs take it: pg would have `require` check the server's certificate, which many are not given.
import { readFileSync } from 'node:fs'
import { ConfigError } from '../../base/errors.ts'

/** No `allow`: neither it nor `prefer` tries twice here, and without TLS first it would be `disable`. */
const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

/** The URL as pg is to have it. Throws ConfigError, with the name of the setting, for a mode or a file that it cannot use. */
export function withUsualTls(setting: string, url: string): string {
	const { searchParams } = new URL(url)
	const mode = searchParams.get('sslmode')
	if (mode === null) return url
	const refuse = (mistake: string) => new ConfigError(`${setting}: ${mistake}`)
	if (!modes.includes(mode)) throw refuse(`sslmode=${mode} must be one of ${modes.join(', ')}`)
	if (mode === 'verify-ca' && !searchParams.has('sslrootcert'))
		throw refuse('sslmode=verify-ca needs sslrootcert, the file with the certificate of the authority')
	for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
		const file = searchParams.get(name)
		if (
			file !== null &&
			!read(file, (error) => refuse(`${name}=${file} cannot be read: ${error.message}`)).includes('-----BEGIN ')
		)
			throw refuse(`${name}=${file} is no PEM file`)
	}
	return searchParams.has('uselibpqcompat') ? url : `${url}&uselibpqcompat=true`
}

function read(file: string, refused: (error: Error) => ConfigError): string {
	try {
		return readFileSync(file, 'utf8')
	} catch (error) {
		throw refused(error as Error)
	}
}
