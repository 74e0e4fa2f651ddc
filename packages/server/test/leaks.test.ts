// That tests see a secret which leaves a server (leaks.ts), and that all secrets in tests have the mark by which they do.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { encryptionKey, secret, stripeSecret, takeLeaks, watch, watchLog } from './leaks.ts'

const leaksIn = (text: string | Uint8Array, place = 'GET /companies') => {
	watch(place, text)
	return takeLeaks().length
}

it.each([
	['a secret', secret('of-a-client')],
	['a key of Stripe', stripeSecret('sk_test')],
	['an encryption key', encryptionKey(7)],
	['a secret in JSON', JSON.stringify({ error: `wrong key: ${secret()}` })],
	['a user and a password', `Basic ${Buffer.from(`ada:${secret()}`).toString('base64')}`],
	['another user and a password', `Basic ${Buffer.from(`grace:${secret()}`).toString('base64url')}`],
	['a third user and a password', `Basic ${Buffer.from(`edsger:${secret()}`).toString('base64')}`],
	['bytes', Buffer.from(`… ${secret()}`)],
	['a key of the API', `rmt_${'a1B2'.repeat(9)}xy`],
	['the secret of an endpoint', `whsec_${Buffer.alloc(32, 9).toString('base64')}`],
])('%s is a leak', (_, text) => {
	expect(leaksIn(text)).toBe(1)
})

it.each(['rmt_…', 'whsec_', 'a text', '{"credentialHint":"6789"}'])('%s is none', (text) => {
	expect(leaksIn(text)).toBe(0)
})

it('the answer to a creation may show the key that was made, and no other secret', () => {
	const key = `rmt_${'a1B2'.repeat(9)}xy`
	expect(leaksIn(key, 'POST /api-keys')).toBe(0)
	expect(leaksIn(key, 'GET /api-keys')).toBe(1)
	expect(leaksIn(secret(), 'POST /api-keys')).toBe(1)
})

it.each(['/view/invoice/', '/connect/', '/invoices/public/', '/oauth/callback?state='])(
	'a token behind %s is a leak in the log alone',
	(path) => {
		const url = `http://127.0.0.1:1${path}${'a-1_'.repeat(11)}`
		watchLog(`{"url":"${url}"}`)
		expect(takeLeaks()).toHaveLength(1)
		expect(leaksIn(url)).toBe(0)
	},
)

/** They give a setting that no server takes, or seal without one. */
const withoutServer = [
	'test/cli.e2e.test.ts',
	'src/platform/outside/payments/open.test.ts',
	'src/platform/outside/secrets.test.ts',
]
const literal = /\b(apiKey|password|clientSecret|secretKey|webhookSecret|\w+_SECRET|\w+_SECRET_KEY): '[^']{8,}'/

it('tests make up credentials with secret() and stripeSecret() alone', () => {
	const server = join(import.meta.dirname, '..')
	const files = globSync(['src/**/*.test.ts', 'test/**/*.ts'], { cwd: server }).filter((file) => !withoutServer.includes(file))
	expect(files.length).toBeGreaterThan(100)
	const found = files.flatMap((file) => {
		const lines = readFileSync(join(server, file), 'utf8').split('\n')
		return lines.filter((line) => literal.test(line)).map((line) => `${file}: ${line.trim()}`)
	})
	expect(found).toEqual([])
})
