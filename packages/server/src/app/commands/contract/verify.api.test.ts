// `remit contract verify` beside a server that keeps its contract, and beside one that a proxy makes break it in one place.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { verify } from './verify.ts'

interface Passing {
	readonly method: string
	readonly path: string
	readonly headers: IncomingHttpHeaders
}
interface Returned {
	status: number
	headers: Record<string, string>
	// biome-ignore lint/suspicious/noExplicitAny: mutations change answers of any shape.
	body: any
}
interface Mutation {
	/** Changes a request before the server gets it. */
	readonly before?: (request: Passing) => void
	readonly after?: (answer: Returned, request: Passing) => void
}

let server: TestServer
let proxy: Server
let mutation: Mutation = {}
beforeAll(async () => {
	server = await startTestServer()
	proxy = createServer(async (req, res) => {
		const passing = { method: req.method ?? '', path: req.url ?? '', headers: { ...req.headers } }
		const sent = await buffer(req)
		mutation.before?.(passing)
		const answer = await pass(passing, sent)
		mutation.after?.(answer, passing)
		const body = Buffer.isBuffer(answer.body) || answer.body === undefined ? answer.body : JSON.stringify(answer.body)
		res.writeHead(answer.status, answer.headers).end(body)
	}).listen(0, '127.0.0.1')
	await once(proxy, 'listening')
})
afterAll(async () => {
	proxy.closeAllConnections()
	proxy.close()
	await server.close()
})
afterEach(() => {
	mutation = {}
})

async function pass({ method, path, headers }: Passing, sent: Buffer): Promise<Returned> {
	const { host, connection, 'content-length': length, 'transfer-encoding': encoding, ...rest } = headers
	const options = { method: method as 'GET', headers: rest, ...(sent.length > 0 && { body: sent }) }
	const answer = await request(server.url + path, options)
	const bytes = Buffer.from(await answer.body.arrayBuffer())
	const names = Object.entries(answer.headers).flatMap(([name, value]) =>
		/^(connection|keep-alive|content-length|transfer-encoding)$/.test(name) ? [] : [[name, String(value)]],
	)
	const isJson = bytes.length > 0 && /[/+]json/.test(String(answer.headers['content-type']))
	const body = bytes.length === 0 ? undefined : isJson ? JSON.parse(bytes.toString()) : bytes
	return { status: answer.statusCode, headers: Object.fromEntries(names), body }
}

const proxyUrl = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`

/** The mistakes that are found in a new organization, each with its operation, status and code. */
async function faults(only: string[], by: Mutation): Promise<string[]> {
	const { key } = await server.newTenant()
	mutation = by
	const { rows } = await verify({ apiKey: key, url: proxyUrl(), only })
	return rows.flatMap(({ operation, status, code, faults: all }) =>
		all.map((fault) => `${[operation, status, code].filter(Boolean).join(' ')}: ${fault}`),
	)
}

const isReading = ({ method, path }: Passing) => method === 'GET' && /^\/api\/(companies|invoices)\/\w+$/.test(path)
const isCreating = ({ method, path }: Passing) => method === 'POST' && path === '/api/companies'

it.each<[what: string, only: string, by: Mutation, found: RegExp]>([
	[
		'a status',
		'companies.create',
		{
			after: (answer, req) => {
				if (isCreating(req) && answer.status === 201) answer.status = 200
			},
		},
		/^companies.create 200: status: 200 is not documented, only 201, 400.* \(POST \/api\/companies, req_/,
	],
	[
		'a field that is missing',
		'companies.get',
		{
			after: ({ status, body }, req) => {
				if (isReading(req) && status === 200) delete body.data.name
			},
		},
		/^companies.get 200: body \/data: must have required property 'name' \(GET \/api\/companies\/cmp_/,
	],
	[
		'a type',
		'invoices.get',
		{
			after: ({ status, body }, req) => {
				if (isReading(req) && status === 200) body.data.totalCents = '5000'
			},
		},
		/^invoices.get 200: body \/data\/totalCents: must be integer/,
	],
	[
		'a value that the contract does not have',
		'invoices.get',
		{
			after: ({ status, body }, req) => {
				if (isReading(req) && status === 200) body.data.status = 'parked'
			},
		},
		/^invoices.get 200: body \/data\/status: must be equal to one of the allowed values: draft,/,
	],
	[
		'a header that is missing',
		'companies.delete',
		{
			after: ({ headers }, { method }) => {
				if (method === 'DELETE') delete headers['x-request-id']
			},
		},
		/^companies.delete 200: header X-Request-Id: is missing \(DELETE /,
	],
	[
		'a code',
		'companies.get',
		{
			after: ({ status, body }) => {
				if (status === 404) body.code = 'contact_not_found'
			},
		},
		/^companies.get 404 contact_not_found: body \/code: must be equal to one of the allowed values: company_not_found/,
	],
	[
		'an error that is no problem document',
		'companies.get',
		{
			after: ({ status, headers }) => {
				if (status === 404) headers['content-type'] = 'application/json'
			},
		},
		/^companies.get 404 company_not_found: header Content-Type: is application\/json, and must be application\/problem\+json/,
	],
	[
		'a Location',
		'companies.create',
		{
			after: ({ headers }) => {
				if (headers.location) headers.location = '/api/companies/cmp_other'
			},
		},
		/^companies.create 201: header Location: is \/api\/companies\/cmp_other, and must end in \/cmp_/,
	],
	[
		'an ETag that is not the one of the record',
		'companies.update',
		{
			after: ({ headers }, { method }) => {
				if (method === 'PATCH' && headers.etag) headers.etag = '"77"'
			},
		},
		/^companies.update 200: header ETag: is "77", and that of the record "2"/,
	],
	[
		'an If-None-Match that has no effect',
		'companies.get',
		{
			before: ({ headers }) => {
				delete headers['if-none-match']
			},
		},
		/^companies.get 304: status: 200 where 304 is expected/,
	],
	[
		'an If-Match that has no effect',
		'companies.update',
		{
			before: ({ headers }) => {
				delete headers['if-match']
			},
		},
		/^companies.update 412 version_mismatch: status: 200 where 412 version_mismatch is expected/,
	],
	[
		'an Idempotency-Key that has no effect',
		'companies.create',
		{
			before: ({ headers }) => {
				delete headers['idempotency-key']
			},
		},
		/^companies.create 201: body \/: is another one when a key is sent again/,
	],
	[
		'a change that is not stored',
		'companies.update',
		{
			after: ({ status, body }, req) => {
				if (isReading(req) && status === 200) body.data.name = 'Before'
			},
		},
		/^companies.update 200: body \/data\/name: is "Before" after "Contract verification Ltd" was sent/,
	],
	[
		'a deletion without an effect',
		'companies.delete',
		{
			after: (answer, req) => {
				if (isReading(req) && answer.status === 404 && !req.path.endsWith('unknown')) answer.status = 200
			},
		},
		/^companies.delete 200: effect: the record still answers 200/,
	],
	[
		'a request without a key that is answered',
		'companies.list',
		{
			before: ({ headers }) => {
				headers.authorization ??= `Bearer ${server.key}`
			},
		},
		/^companies.list 401 missing_credentials: status: 200 where 401 missing_credentials is expected/,
	],
	[
		'a limit that is not kept',
		'webhooks.eventTypes',
		{
			after: (answer) => {
				answer.headers['x-ratelimit-limit'] = '5'
				answer.headers['x-ratelimit-remaining'] = '4'
			},
		},
		/^webhooks.eventTypes.list 429 rate_limited: status: 200 to request 6 of a minute, of which there are 5/,
	],
])('finds %s, and names its operation and place', async (_, only, by, found) => {
	const told = await faults([only], by)
	expect(told.filter((fault) => found.test(fault))).toHaveLength(1)
})

it('finds nothing wrong with a server that keeps its contract, and removes its records and keys', async () => {
	const tenant = await server.newTenant()
	const { key } = tenant
	const { isKept, text, junit } = await verify({ apiKey: key, url: server.url, testPayments: true })
	expect(text).toContain('The server keeps its contract.')
	expect(isKept).toBe(true)
	expect(text).toMatch(/^companies.get +404 +company_not_found +ok$/m)
	expect(text).toMatch(/^deals.delete +409 +deal_has_time +ok$/m)
	expect(text).toMatch(/^syncs.links.get +200 +ok$/m)
	expect(text).toMatch(/^invoices.paymentLink.create +200 +ok$/m)
	expect(text).toMatch(/^session.create +401 +sign_in_failed +ok$/m)
	expect(text).toMatch(/^session.create +201 +- asked only with bad input: takes the session of a person$/m)
	expect(junit).toContain('<skipped message="asked only with bad input: sends mail"/>')
	expect(junit).toContain('<testcase classname="companies.get" name="404 company_not_found"/>')
	for (const path of ['/api/companies', '/api/invoices', '/api/deals', '/connections', '/webhooks/endpoints', '/syncs'])
		expect((await tenant.ask('GET', path)).body.data).toEqual([])
	const { data: keys } = (await tenant.ask('GET', '/api-keys?limit=100')).body
	expect(
		keys.filter((each: { name: string; revokedAt: number | null }) => /^Contract/.test(each.name) && !each.revokedAt),
	).toEqual([])
}, 120_000)

it('takes no organization that has records, unless it may share it, and then leaves those as they are', async () => {
	const tenant = await server.newTenant()
	const { key } = tenant
	const { id } = (await tenant.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body
	const options = { apiKey: key, url: server.url, only: ['companies', 'organization', 'payments'] }
	await expect(verify(options)).rejects.toThrow(/its organization has companies\. .*--shared/)
	const before = (await tenant.ask('GET', `/api/companies/${id}`)).body
	const organization = (await tenant.ask('GET', '/api/organization')).body
	const { isKept, text } = await verify({ ...options, shared: true })
	expect({ isKept, text }).toEqual({
		isKept: true,
		text: expect.stringContaining('asked only with bad input (makes what cannot be removed)'),
	})
	expect((await tenant.ask('GET', `/api/companies/${id}`)).body).toEqual(before)
	expect((await tenant.ask('GET', '/api/organization')).body).toEqual(organization)
	expect((await tenant.ask('GET', '/api/payments')).body.data).toEqual([])
})

it('leaves out what a server that does not call its own address cannot be asked', async () => {
	const strict = await startTestServer({ EGRESS_ALLOW_CIDRS: [] })
	try {
		const { isKept, text } = await verify({ apiKey: strict.key, url: strict.url, only: ['webhooks.endpoints'] })
		expect({ isKept, text }).toEqual({
			isKept: true,
			text: expect.stringMatching(/asked only with bad input \(.*unsafe_url.*: .*webhooks.endpoints.create/),
		})
	} finally {
		await strict.close()
	}
})

it('calls a server that is not Remit by its name, and not the key wrong', async () => {
	mutation = {
		after: (answer) => {
			answer.status = 200
			answer.headers = { 'content-type': 'text/html' }
			answer.body = Buffer.from('<!doctype html><title>Welcome</title>')
		},
	}
	await expect(verify({ apiKey: server.key, url: proxyUrl() })).rejects.toThrow(
		/^--url http:\S+: is no Remit server: GET \/api\/organization answers 200 without X-Contract-Version/,
	)
})

it('asks of a problem without a code for the code alone', async () => {
	const told = await faults(['companies.get'], {
		after: ({ status, body }) => {
			if (status === 404) delete body.code
		},
	})
	expect(told.some((fault) => /required property 'code'/.test(fault))).toBe(true)
	expect(told.filter((fault) => /problem:undefined/.test(fault))).toEqual([])
})

it('ends with one sentence when nobody answers, the key is wrong or the server follows another version', async () => {
	const url = proxyUrl()
	await expect(verify({ apiKey: 'rmt_x', url: 'http://127.0.0.1:1' })).rejects.toThrow(
		/^--url http:\/\/127.0.0.1:1: GET \/api\/organization: /,
	)
	await expect(verify({ apiKey: 'rmt_x', url })).rejects.toThrow(/^--api-key: .* refuses the key/)
	await expect(verify({ apiKey: server.key, url, only: ['nothing'] })).rejects.toThrow(
		'--only nothing: the contract has no such operation',
	)
	mutation = {
		after: ({ headers }) => {
			headers['x-contract-version'] = '9.0.0'
		},
	}
	await expect(verify({ apiKey: server.key, url })).rejects.toThrow(/follows the contract 9\.0\.0, and this command has/)
})
