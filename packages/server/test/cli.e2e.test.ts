// The help of the command `remit`, and its errors for a wrong command line or setting. It needs no database but a folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settings as allSettings } from '../src/config.ts'
import { scopes as allScopes } from '../src/platform/auth/keys.ts'
import { encryptionKey } from './leaks.ts'
import { type Environment, expectRefusal, Remit } from './remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-cli-'))
/** A valid key for ENCRYPTION_KEYS. */
const aKey = encryptionKey(1)

const remit = new Remit({ DATA_DIR: join(folder, 'data') }, folder)

let organizationId: string
beforeAll(async () => {
	organizationId = (await remit.json(['organizations', 'create', '--name', 'First Ltd'])).organizationId
})
afterAll(() => {
	remit.stop()
	rmSync(folder, { recursive: true, force: true })
})

describe.concurrent('remit', () => {
	it('explains itself, every setting of the server too', async () => {
		const { code, stdout } = await remit.run(['serve', '--help'])
		expect(code).toBe(0)
		for (const [name, { default: fallback, meaning }] of Object.entries(allSettings)) {
			expect(stdout).toContain(name)
			expect(stdout).toContain(meaning)
			expect(stdout).toContain(fallback)
		}
		const commands = [[], ['migrate'], ['demo'], ['organizations', 'create'], ['keys', 'create'], ['keys', 'revoke']]
		for (const result of await Promise.all(commands.map((command) => remit.run([...command, '--help']))))
			expect(result).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Usage: remit') })
		expect((await remit.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
	})

	it('names every scope that a key can have, and gives all of them when asked for all', async () => {
		const created = await remit.json(['keys', 'create', '--organization', organizationId, '--scopes', 'all'])
		expect(created.scopes).toEqual(allScopes)
		const { stdout } = await remit.run(['keys', 'create', '--help'])
		const words = stdout.split(/[\s,]+/)
		for (const scope of allScopes) expect(words).toContain(scope)
	})

	const keysCreate = ['keys', 'create', '--scopes', 'invoices:read', '--organization']
	const verify = ['contract', 'verify', '--url', 'http://127.0.0.1:1', '--api-key', 'rmt_x']
	it.each<[string, string[], RegExp]>([
		[
			'a file that cannot be written',
			[...verify, '--junit', 'missing/contract.xml'],
			/^--junit missing\/contract\.xml: .*ENOENT/,
		],
		['a server that nobody runs', verify, /^--url http:\/\/127\.0\.0\.1:1: GET /],
		['no key', ['contract', 'verify'], /^--api-key: a key is needed/],
		['an unknown option', [...verify, '--junti', 'x'], /unknown option '--junti'/],
	])('contract verify ends with 2 for %s, as 1 says that the contract is broken', async (_name, args, line) => {
		const result = await remit.run(args)
		expectRefusal(result, line)
		expect(result.code).toBe(2)
	})

	it.each<[string, string[], RegExp]>([
		[
			'an unknown scope',
			['keys', 'create', '--organization', 'ORG', '--scopes', 'invoices:read,all'],
			/--scopes .*\ball\b.*companies:read/,
		],
		['no scope', ['keys', 'create', '--organization', 'ORG', '--scopes', ''], /--scopes/],
		['a duration without a unit', [...keysCreate, 'ORG', '--expires-in', '90'], /--expires-in 90.*90d/],
		['a duration in words', [...keysCreate, 'ORG', '--expires-in', 'soon'], /--expires-in soon/],
		['a negative duration', [...keysCreate, 'ORG', '--expires-in=-1d'], /--expires-in -1d/],
		['no time at all', [...keysCreate, 'ORG', '--expires-in', '0d'], /--expires-in 0d/],
		['an unknown organization', [...keysCreate, 'org_unknown'], /org_unknown.*no such organization/],
		['an unknown organization to list', ['keys', 'list', '--organization', 'org_unknown'], /org_unknown.*no such organization/],
		[
			'an unknown time zone',
			['organizations', 'create', '--name', 'x', '--time-zone', 'Mars/Olympus'],
			/--time-zone Mars\/Olympus.*IANA/,
		],
		['an empty name', ['organizations', 'create', '--name', '  '], /--name/],
		['no name', ['organizations', 'create'], /--name/],
		['an unknown key', ['keys', 'revoke', 'key_unknown'], /key_unknown.*no such key/],
		['an unknown command', ['invoices'], /unknown command 'invoices'/],
		['an unknown option', ['migrate', '--down'], /unknown option '--down'/],
		['too many words', ['migrate', 'now'], /too many arguments/],
	])('refuses %s in one line', async (_name, args, line) => {
		expectRefusal(await remit.run(args.map((word) => (word === 'ORG' ? organizationId : word))), line)
	})
})

describe.concurrent('a setting that cannot be', () => {
	it.each<[string, Environment, RegExp]>([
		['PORT', { PORT: 'abc' }, /^PORT=abc: must be an integer from 0 to 65535$/],
		['PORT too large', { PORT: '65536' }, /^PORT=65536: must be/],
		['LOG_LEVEL', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL=loud: must be one of .*info/],
		['DATABASE_URL', { DATABASE_URL: 'foo' }, /^DATABASE_URL: must be a URL .*postgres:/],
		['BASE_URL', { BASE_URL: 'ftp://x' }, /^BASE_URL=ftp:\/\/x: must be a URL/],
		['a BASE_URL with a query', { BASE_URL: 'https://x.example/?a=b' }, /^BASE_URL=.*: must have no user, query/],
		['a BASE_URL with a password', { BASE_URL: 'https://me:pass@x.example' }, /^BASE_URL=.*: must have no user, query/],
		['an empty HOST, which would be every interface', { HOST: '' }, /^HOST=: must not be empty$/],
		['an empty DATA_DIR, which would be any folder', { DATA_DIR: '' }, /^DATA_DIR=: must not be empty$/],
		['TRUST_PROXY', { TRUST_PROXY: 'yes' }, /^TRUST_PROXY=yes: must be an integer/],
		['STRIPE_SECRET_KEY', { STRIPE_SECRET_KEY: 'pk_secret' }, /^STRIPE_SECRET_KEY: must begin with sk_ or rk_$/],
		['STRIPE_WEBHOOK_SECRET', { STRIPE_WEBHOOK_SECRET: 'sk_secret' }, /^STRIPE_WEBHOOK_SECRET: must begin with whsec_$/],
		['EGRESS_ALLOW_CIDRS', { EGRESS_ALLOW_CIDRS: '10.0.0.0' }, /^EGRESS_ALLOW_CIDRS=10\.0\.0\.0: /],
		['INVOICING_RATE_LIMIT', { INVOICING_RATE_LIMIT: '-1' }, /^INVOICING_RATE_LIMIT=-1: must be/],
		['HOST', { HOST: '256.1.1.1' }, /HOST=256\.1\.1\.1/],
		['ENCRYPTION_KEYS', { ENCRYPTION_KEYS: 'secret' }, /^ENCRYPTION_KEYS: each key must be 32 bytes/],
		['one of ENCRYPTION_KEYS', { ENCRYPTION_KEYS: `${aKey},secret` }, /^ENCRYPTION_KEYS: each key must be 32 bytes/],
		['SMTP_URL', { SMTP_URL: 'https://me:secret@mail.example' }, /^SMTP_URL: must begin with smtp:/],
		['an SMTP_URL that is no URL', { SMTP_URL: 'smtp://me:secret@mail.example:99999' }, /^SMTP_URL:? must be smtp:/],
		['MAIL_FROM', { MAIL_FROM: 'nobody', SMTP_URL: 'smtp://mail.example' }, /^MAIL_FROM\b.* must be one address/],
		['PAYMENT_PROCESSOR', { PAYMENT_PROCESSOR: 'paypal' }, /^PAYMENT_PROCESSOR=paypal: must be one of .*stripe/],
		['a processor for tests', { PAYMENT_PROCESSOR: 'test' }, /^PAYMENT_PROCESSOR=test: refused in production/],
		[
			'a processor without its keys',
			{ PAYMENT_PROCESSOR: 'stripe', STRIPE_SECRET_KEY: 'sk_secret' },
			/^PAYMENT_PROCESSOR=stripe: needs STRIPE_WEBHOOK_SECRET$/,
		],
		['STRIPE_API_BASE', { STRIPE_API_BASE: 'localhost' }, /^STRIPE_API_BASE=localhost: must be a URL/],
		[
			'a server that does not answer',
			{ DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/x' },
			/^DATABASE_URL: The server cannot reach its database: /,
		],
		[
			'a host that does not exist',
			{ DATABASE_URL: 'postgres://me:secret@remit.invalid/x' },
			/^DATABASE_URL: The server cannot reach its database: /,
		],
	])('is named with its rule: %s', async (_name, environment, line) => {
		// Two servers on one folder would refuse each other.
		const DATA_DIR = join(mkdtempSync(join(folder, 'serve-')), 'data')
		const refused = await remit.run(['serve'], { DATA_DIR, ...environment })
		expectRefusal(refused, line)
		expect(refused.stderr).not.toContain('secret')
	})

	it('is named with all others', async () => {
		const { stderr } = await remit.run(['migrate'], { PORT: 'x', LOG_LEVEL: 'y', NODE_ENV: 'z' })
		expect(
			stderr
				.trim()
				.split('\n')
				.map((line) => line.split('=')[0]),
		).toEqual(['PORT', 'LOG_LEVEL', 'NODE_ENV'])
	})

	it('is a folder for the data that is none, or holds something else', async () => {
		const [file, other] = [join(folder, 'file'), join(folder, 'other')]
		writeFileSync(file, '')
		mkdirSync(other)
		writeFileSync(join(other, 'remit.db'), 'This is not a database, but long enough to be looked at as one.'.repeat(20))
		for (const DATA_DIR of [file, join(file, 'below'), other]) {
			expectRefusal(
				await remit.run(['migrate'], { DATABASE_URL: '', DATA_DIR }),
				new RegExp(`^DATA_DIR=${DATA_DIR}: .*cannot be used`),
			)
		}
	})
})
