import { describe, expect, it } from 'vitest'
import { clientProxies, readConfig } from './config.ts'

describe('webhooks to receivers on this machine', () => {
	const isOpen = (environment: Record<string, string>) => readConfig(environment).EGRESS_ALLOW_CIDRS.length > 0

	it.each([
		['in development', {}],
		['in development on another address of loopback', { HOST: '127.0.0.2' }],
		['in development on localhost', { HOST: 'localhost' }],
	])('are allowed %s', (_, environment) => expect(isOpen({ NODE_ENV: 'development', ...environment })).toBe(true))

	it.each([
		['in production', { NODE_ENV: 'production' }],
		['by default', {}],
		['in development that others can reach', { NODE_ENV: 'development', HOST: '0.0.0.0' }],
		['in development behind a proxy', { NODE_ENV: 'development', BASE_URL: 'https://remit.example' }],
		['in development where the setting is empty', { NODE_ENV: 'development', EGRESS_ALLOW_CIDRS: '' }],
	])('are refused %s', (_, environment) => expect(isOpen(environment)).toBe(false))
})

it('A process that does a part needs a database that others share', () => {
	const DATABASE_URL = 'postgres://localhost/remit'
	expect(readConfig({}).ROLE).toBe('all')
	expect(readConfig({ ROLE: 'worker', DATABASE_URL }).ROLE).toBe('worker')
	for (const ROLE of ['api', 'worker']) expect(() => readConfig({ ROLE })).toThrow(`ROLE=${ROLE}: one process does all on SQLite`)
	expect(() => readConfig({ ROLE: 'both', DATABASE_URL })).toThrow('ROLE=both: must be one of all, api, worker')
	expect(() => readConfig({ DATABASE_READ_URL: DATABASE_URL })).toThrow(
		'DATABASE_READ_URL: it is a standby of DATABASE_URL, which',
	)
	expect(() => readConfig({ PAYMENT_PROCESSOR: 'paypal' })).toThrow('must be one of stripe, test, none, or empty')
})

it('A server below a path of its host has no web application: other programs of the host would act with its sessions', () => {
	const BASE_URL = 'https://acme.example/remit'
	expect(() => readConfig({ BASE_URL })).toThrow(`BASE_URL=${BASE_URL}: the web application takes a host of its own; leave out`)
	expect(readConfig({ BASE_URL, WEB: 'off' }).BASE_URL).toBe(BASE_URL)
	expect(readConfig({ BASE_URL: 'https://acme.example/' }).BASE_URL).toBe('https://acme.example')
})

it('Origins that pages call from are named one by one, as a browser sends them', () => {
	const origins = (CORS_ORIGINS: string) => readConfig({ CORS_ORIGINS }).CORS_ORIGINS
	expect(origins('')).toEqual([])
	expect(origins('https://app.example.com, http://localhost:5173')).toEqual(['https://app.example.com', 'http://localhost:5173'])
	for (const wrong of [
		'*',
		'null',
		'app.example.com',
		'https://app.example.com/',
		'https://App.example.com',
		'https://a.example:443',
	])
		expect(() => origins(wrong)).toThrow(`CORS_ORIGINS=${wrong}: must be origins such as https://app.example.com`)
})

it('reads the proxy under the names in small letters, too', () => {
	const proxy = { https_proxy: 'http://proxy.example:3128', no_proxy: 'a.example' }
	expect(readConfig(proxy)).toMatchObject({ HTTPS_PROXY: proxy.https_proxy, NO_PROXY: 'a.example' })
	expect(readConfig({ ...proxy, HTTPS_PROXY: 'http://other.example' })).toMatchObject({ HTTPS_PROXY: 'http://other.example' })
})

it('takes a proxy without a scheme for one of http, as curl does', () => {
	for (const host of ['proxy.example:3128', 'ada:p%40ss@10.0.0.1:3128', '[::1]:3128']) {
		expect(readConfig({ https_proxy: host })).toMatchObject({ HTTPS_PROXY: `http://${host}` })
		expect(clientProxies({ HTTPS_PROXY: host, HTTP_PROXY: host })).toMatchObject({
			https_proxy: `http://${host}`,
			http_proxy: `http://${host}`,
		})
	}
	expect(() => readConfig({ https_proxy: 'socks5://proxy.example:3128' })).toThrow(
		/^HTTPS_PROXY: must be a URL that begins with /,
	)
})
